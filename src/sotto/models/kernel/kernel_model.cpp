#include "sotto/models/kernel/detail/kernel_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"
#include "sotto/core/json_text.hpp"
#include "sotto/learning/model_file.hpp"
#include "sotto/models/kernel/detail/additive_portrait.hpp"
#include "sotto/models/kernel/detail/margin_loss.hpp"

namespace sotto {
namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t kMostParts = 8;

class Predictor final : public SupervisedModel {
 public:
  Predictor(KernelModel model, const Facts& facts)
      : SupervisedModel(facts),
        encoder_(facts.encoder),
        columns_(*facts.encoder),
        margins_(std::move(model)) {}

  Files files() const override {
    const KernelModel model = margins_.model();
    const json j = {{"schema", schema_of(model)}, {"type", "kernel"}, {"parts", to_json(model)}};
    return {{"model.json", j.dump() + "\n"}};
  }

  // Of main effects and pairs; waves and random trees mix columns and have no curves.
  Portrait portrait() const override {
    const std::vector<KernelMargins::Part>& parts = margins_.parts();
    if (parts.size() > 1 || parts[0].map.fourier() > 0 || !are_pairs(parts[0].map.design()))
      return {};
    return additive_portrait(parts[0].map, parts[0].parameters, parts[0].noise, *encoder_);
  }

 private:
  std::vector<Prediction> predict(const Block& block) const override {
    const Table& table = block.table();
    std::vector<Prediction> predictions(table.rows());
    std::vector<BinnedColumns::Cell> cells(columns_.columns());
    FeatureRow room;
    std::vector<double> margins(margins_.outputs());
    for (std::size_t i = 0; i < predictions.size(); ++i) {
      columns_.read(table, i, cells);
      std::fill(margins.begin(), margins.end(), 0.0);
      margins_.add(cells, room, margins);
      predictions[i] = task() == Task::regress ? Prediction{{}, std::clamp(margins[0], -1.0, 1.0)}
                                               : classified(margins);
    }
    return predictions;
  }

  std::shared_ptr<const Encoder> encoder_;
  BinnedColumns columns_;
  KernelMargins margins_;
};

[[noreturn]] void does_not_fit() {
  throw DataError("the model does not fit its encoder",
                  "restore both files from where the artifact was copied");
}

void check(const KernelModel::Part& part, const BinnedColumns& columns, std::size_t outputs) {
  const FeatureDesign& design = part.design;
  if (design.columns.size() != columns.columns()) does_not_fit();
  for (std::size_t j = 0; j < columns.columns(); ++j)
    if (design.columns[j].share.size() != columns.levels(j) ||
        design.numeric[j] != columns.is_numeric(j))
      does_not_fit();
  if (part.parameters.size() != outputs) does_not_fit();
  const std::size_t dimension = FeatureMap(design).dimension();
  for (const std::vector<double>& theta : part.parameters) {
    if (theta.size() != dimension) does_not_fit();
    for (const double x : theta)
      if (!(std::abs(x) <= kMostParameter)) does_not_fit();
  }
}

}  // namespace

KernelMargins::KernelMargins(KernelModel model) {
  for (KernelModel::Part& part : model.parts) {
    Part& own = parts_.emplace_back(
        Part{FeatureMap(std::move(part.design)), std::move(part.parameters), part.noise, {}, {}});
    for (const std::vector<double>& theta : own.parameters) {
      own.main.push_back(own.map.main_products(theta));
      own.leaves.push_back(own.map.leaf_products(theta));
    }
  }
}

void KernelMargins::add(std::span<const BinnedColumns::Cell> cells, FeatureRow& room,
                        std::span<double> margins) const {
  for (const Part& part : parts_) {
    part.map.read(cells, room);
    for (std::size_t k = 0; k < margins.size(); ++k)
      margins[k] += part.map.margin(part.parameters[k], part.main[k], part.leaves[k], room);
  }
}

KernelModel KernelMargins::model() const {
  KernelModel model;
  for (const Part& part : parts_)
    model.parts.push_back({part.map.design(), part.parameters, part.noise});
  return model;
}

int schema_of(const KernelModel& model) {
  for (const KernelModel::Part& part : model.parts)
    if (part.design.sizes.least_length > 0) return 2;
  return 1;
}

bool is_known_schema(const json& schema) {
  constexpr std::array kKnown = {1, 2};
  return std::find(kKnown.begin(), kKnown.end(), schema) != kKnown.end();
}

json to_json(const KernelModel& model) {
  json parts = json::array();
  for (const KernelModel::Part& part : model.parts)
    parts.push_back({{"features", to_json(part.design)},
                     {"parameters", part.parameters},
                     {"noise", part.noise}});
  return parts;
}

KernelModel kernel_model_from_json(const json& parts) {
  KernelModel model;
  for (const json& part : parts)
    model.parts.push_back({feature_design_from_json(part.at("features")),
                           part.at("parameters").get<std::vector<std::vector<double>>>(),
                           json_number(part.at("noise"), "the noise")});
  return model;
}

void check_kernel_model(const KernelModel& model, const BinnedColumns& columns,
                        std::size_t outputs) {
  if (model.parts.empty() || model.parts.size() > kMostParts) does_not_fit();
  for (const KernelModel::Part& part : model.parts) check(part, columns, outputs);
}

std::unique_ptr<Model> kernel_predictor(KernelModel model, const Facts& facts) {
  if (!facts.encoder || !facts.encoder->has_target()) does_not_fit();
  check_kernel_model(model, BinnedColumns(*facts.encoder), margins_of(facts));
  return std::make_unique<Predictor>(std::move(model), facts);
}

std::unique_ptr<Model> load_kernel(const Files& files, Facts& facts) {
  try {
    const json j = model_json(files);
    if (!is_known_schema(j.at("schema")) || j.at("type") != "kernel")
      throw DataError("'model.json' is not a kernel model that this version knows");
    return kernel_predictor(kernel_model_from_json(j.at("parts")), facts);
  } catch (const nlohmann::json::exception&) {
    throw DataError("'model.json' is not a kernel model",
                    "restore it from where the artifact was copied");
  }
}

}  // namespace sotto
