#include "sotto/models/pca/detail/pca_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sotto/core/error.hpp"
#include "sotto/learning/model_file.hpp"

namespace sotto {
namespace {

using Json = nlohmann::ordered_json;

class PcaModel final : public ProjectionModel {
 public:
  PcaModel(Components c, const Facts& facts)
      : ProjectionModel(std::move(c.directions), std::move(c.mean), c.reach, facts),
        reach_(std::move(c.reach)) {}

  Files files() const override {
    const Json json = {{"schema", 1},
                       {"type", "pca"},
                       {"columns", encoder().feature_names()},
                       {"mean", mean()},
                       {"components", to_json(components())},
                       {"reach", reach_}};
    return {{"model.json", json.dump() + "\n"}};
  }

  // What each column adds to each coordinate, over its range.
  Portrait portrait() const override {
    Portrait picture;
    for (std::size_t c = 0; c < components().rows; ++c) {
      for (std::size_t f = 0; f < encoder().features().size(); ++f) {
        const ColumnEncoder& column = encoder().features()[f];
        const Encoder::Run run = encoder().run(f);
        PortraitCurve curve{column.column().name, fmt::format("component_{}", c + 1), {}};
        if (column.is_categorical()) {
          for (std::size_t l = 0; l < run.width; ++l)
            curve.points.push_back({static_cast<double>(l), components().row(c)[run.first + l], 0,
                                    column.labels()[l]});
        } else {
          const double weight = components().row(c)[run.first];
          const double low = column.is_numeric() ? column.column().bounds->lower() : 0;
          const double high = column.is_numeric() ? column.column().bounds->upper() : 1;
          const double from =
              encoder().schema().scaling == Scaling::unit || !column.is_numeric() ? 0 : -1;
          curve.points.push_back({low, weight * from, 0});
          curve.points.push_back({high, weight, 0});
        }
        picture.curves.push_back(std::move(curve));
      }
    }
    return picture;
  }

 private:
  std::vector<double> reach_;
};

std::vector<double> numbers(const Json& json, std::size_t size, const std::string& what) {
  return matrix_from_json(Json::array({json}), 1, size, what).values;
}

}  // namespace

std::unique_ptr<Model> pca_model(Components components, const Facts& facts) {
  return std::make_unique<PcaModel>(std::move(components), facts);
}

std::unique_ptr<Model> load_pca(const Files& files, Facts& facts) {
  try {
    const Json json = model_json(files);
    if (json.at("schema") != 1 || json.at("type") != "pca" || !facts.encoder)
      throw DataError("'model.json' holds no components that this version knows");
    const std::size_t width = facts.encoder->width();
    Matrix directions = matrix_from_json(json.at("components"), width, width, "the components");
    const std::size_t count = directions.rows;
    return pca_model({std::move(directions), numbers(json.at("mean"), width, "the mean"),
                      numbers(json.at("reach"), count, "the reach")},
                     facts);
  } catch (const nlohmann::json::exception&) {
    throw DataError("'model.json' holds no components",
                    "restore it from where the artifact was copied");
  }
}

}  // namespace sotto
