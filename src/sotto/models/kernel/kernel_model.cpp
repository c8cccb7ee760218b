#include "sotto/models/kernel/detail/kernel_model.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"
#include "sotto/core/json_text.hpp"
#include "sotto/learning/model_file.hpp"
#include "sotto/models/kernel/detail/additive_portrait.hpp"
#include "sotto/models/kernel/detail/kernel_rows.hpp"

namespace sotto {
namespace {

using json = nlohmann::ordered_json;

class Predictor final : public SupervisedModel {
 public:
  Predictor(KernelModel model, const Facts& facts)
      : SupervisedModel(facts),
        parameters_(std::move(model.parameters)),
        noise_(model.noise),
        encoder_(facts.encoder),
        columns_(*facts.encoder),
        map_(std::move(model.design)) {
    for (const std::vector<double>& theta : parameters_) {
      main_.push_back(map_.main_products(theta));
      leaves_.push_back(map_.leaf_products(theta));
    }
  }

  Files files() const override {
    const json j = {{"schema", 1},
                    {"type", "kernel"},
                    {"features", to_json(map_.design())},
                    {"parameters", parameters_},
                    {"noise", noise_}};
    return {{"model.json", j.dump() + "\n"}};
  }

  // Of main effects; waves and trees mix columns and have no curves.
  Portrait portrait() const override {
    if (map_.fourier() > 0) return {};
    return additive_portrait(map_, parameters_, noise_, *encoder_);
  }

 private:
  std::vector<Prediction> predict(const Block& block) const override {
    const Table& table = block.table();
    std::vector<Prediction> predictions(table.rows());
    std::vector<BinnedColumns::Cell> cells(columns_.columns());
    FeatureRow row;
    std::vector<double> margins(parameters_.size());
    for (std::size_t i = 0; i < predictions.size(); ++i) {
      columns_.read(table, i, cells);
      map_.read(cells, row);
      for (std::size_t k = 0; k < margins.size(); ++k)
        margins[k] = map_.margin(parameters_[k], main_[k], leaves_[k], row);
      predictions[i] = task() == Task::regress ? Prediction{{}, std::clamp(margins[0], -1.0, 1.0)}
                                               : classified(margins);
    }
    return predictions;
  }

  std::vector<std::vector<double>> parameters_;
  double noise_;
  std::shared_ptr<const Encoder> encoder_;
  BinnedColumns columns_;
  FeatureMap map_;
  std::vector<OneHotBlock::Products> main_, leaves_;
};

[[noreturn]] void does_not_fit() {
  throw DataError("the model does not fit its encoder",
                  "restore both files from where the artifact was copied");
}

}  // namespace

std::unique_ptr<Model> kernel_predictor(KernelModel model, const Facts& facts) {
  if (!facts.encoder || !facts.encoder->has_target()) does_not_fit();
  const BinnedColumns columns(*facts.encoder);
  const FeatureDesign& design = model.design;
  if (design.columns.size() != columns.columns()) does_not_fit();
  for (std::size_t j = 0; j < columns.columns(); ++j)
    if (design.columns[j].share.size() != columns.levels(j) ||
        design.numeric[j] != columns.is_numeric(j))
      does_not_fit();
  const std::size_t classes = facts.classes().size();
  if (model.parameters.size() != (classes <= 2 ? 1 : classes)) does_not_fit();
  const std::size_t dimension = FeatureMap(design).dimension();
  for (const std::vector<double>& theta : model.parameters) {
    if (theta.size() != dimension) does_not_fit();
    for (const double x : theta)
      if (!std::isfinite(x)) does_not_fit();
  }
  return std::make_unique<Predictor>(std::move(model), facts);
}

std::unique_ptr<Model> load_kernel(const Files& files, Facts& facts) {
  try {
    const json j = model_json(files);
    if (j.at("schema") != 1 || j.at("type") != "kernel")
      throw DataError("'model.json' is not a kernel model that this version knows");
    return kernel_predictor({feature_design_from_json(j.at("features")),
                             j.at("parameters").get<std::vector<std::vector<double>>>(),
                             j.contains("noise") ? json_number(j["noise"], "the noise") : 0},
                            facts);
  } catch (const nlohmann::json::exception&) {
    throw DataError("'model.json' is not a kernel model",
                    "restore it from where the artifact was copied");
  }
}

}  // namespace sotto
