#include "sotto/models/kmeans/detail/kmeans_model.hpp"

#include "sotto/core/error.hpp"
#include "sotto/learning/model_file.hpp"

namespace sotto {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostCentres = 100000;

class KmeansModel final : public ClusterModel {
 public:
  using ClusterModel::ClusterModel;
  KmeansModel(Matrix centres, const Facts& facts) : ClusterModel(std::move(centres), facts) {}

  Files files() const override {
    const Json json = {{"schema", 1},
                       {"type", "kmeans"},
                       {"columns", encoder().feature_names()},
                       {"centres", to_json(centres())}};
    return {{"model.json", json.dump() + "\n"}};
  }
};

}  // namespace

std::unique_ptr<Model> kmeans_model(Matrix centres, const Facts& facts) {
  return std::make_unique<KmeansModel>(std::move(centres), facts);
}

std::unique_ptr<Model> load_kmeans(const Files& files, Facts& facts) {
  try {
    const Json json = model_json(files);
    if (json.at("schema") != 1 || json.at("type") != "kmeans" || !facts.encoder)
      throw DataError("'model.json' holds no centres that this version knows");
    return kmeans_model(
        matrix_from_json(json.at("centres"), kMostCentres, facts.encoder->width(), "the centres"),
        facts);
  } catch (const nlohmann::json::exception&) {
    throw DataError("'model.json' holds no centres",
                    "restore it from where the artifact was copied");
  }
}

}  // namespace sotto
