#include "sotto/models/boosting/detail/boosting_model.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"
#include "sotto/core/json_text.hpp"
#include "sotto/learning/model_file.hpp"
#include "sotto/models/kernel/detail/margin_loss.hpp"

namespace sotto {
namespace {

using json = nlohmann::ordered_json;

class Predictor final : public SupervisedModel {
 public:
  Predictor(BoostingModel model, const Facts& facts)
      : SupervisedModel(facts),
        model_(std::move(model)),
        columns_(*facts.encoder),
        margins_(margins_of(facts)) {
    for (const GridTree& tree : model_.trees) tables_.push_back(tree.tables());
    if (model_.start) start_.emplace(*model_.start);
  }

  Files files() const override {
    json columns = json::array(), trees = json::array();
    for (const ColumnScale& scale : model_.columns)
      columns.push_back({{"start", scale.start}, {"width", scale.width}});
    for (const GridTree& tree : model_.trees)
      trees.push_back({{"columns", tree.columns}, {"cuts", tree.cuts}, {"values", tree.values}});
    json j = {{"schema", model_.start ? schema_of(*model_.start) : 1},
              {"type", "boosting"},
              {"scales", columns},
              {"trees", std::move(trees)}};
    if (start_) j["start"] = to_json(start_->model());
    return {{"model.json", j.dump() + "\n"}};
  }

 private:
  std::vector<Prediction> predict(const Block& block) const override {
    const Table& table = block.table();
    std::vector<Prediction> predictions(table.rows());
    std::vector<BinnedColumns::Cell> cells(columns_.columns());
    std::vector<std::uint8_t> places(cells.size());
    std::vector<double> margins(margins_);
    FeatureRow room;
    for (std::size_t i = 0; i < predictions.size(); ++i) {
      columns_.read(table, i, cells);
      for (std::size_t j = 0; j < cells.size(); ++j)
        places[j] = place_of(model_.columns[j], cells[j]);
      std::fill(margins.begin(), margins.end(), 0.0);
      if (start_) start_->add(cells, room, margins);
      for (std::size_t t = 0; t < tables_.size(); ++t) {
        const GridTree& tree = model_.trees[t];
        std::size_t leaf = 0;
        for (std::size_t c = 0; c < tree.columns.size(); ++c)
          leaf += tables_[t][c][places[tree.columns[c]]];
        for (std::size_t k = 0; k < margins_; ++k) margins[k] += tree.values[leaf * margins_ + k];
      }
      predictions[i] = task() == Task::regress ? Prediction{{}, std::clamp(margins[0], -1.0, 1.0)}
                                               : classified(margins);
    }
    return predictions;
  }

  BoostingModel model_;
  BinnedColumns columns_;
  std::size_t margins_;
  std::vector<std::vector<GridTree::Table>> tables_;
  std::optional<KernelMargins> start_;
};

[[noreturn]] void does_not_fit() {
  throw DataError("the model does not fit its encoder",
                  "restore both files from where the artifact was copied");
}

void check(const GridTree& tree, std::size_t columns, std::size_t margins) {
  if (tree.columns.empty() || tree.columns.size() > 8 || tree.cuts.size() != tree.columns.size())
    does_not_fit();
  std::size_t leaves = 1;
  for (std::size_t c = 0; c < tree.columns.size(); ++c) {
    if (tree.columns[c] >= columns || tree.cuts[c].size() >= kMostLeaves) does_not_fit();
    if (!std::is_sorted(tree.cuts[c].begin(), tree.cuts[c].end())) does_not_fit();
    leaves *= tree.cuts[c].size() + 1;
    if (leaves > kMostLeaves) does_not_fit();
  }
  if (tree.values.size() != leaves * margins) does_not_fit();
  for (const double v : tree.values)
    if (!(std::abs(v) <= 1e6)) does_not_fit();
}

}  // namespace

std::unique_ptr<Model> boosting_predictor(BoostingModel model, const Facts& facts) {
  if (!facts.encoder || !facts.encoder->has_target()) does_not_fit();
  const BinnedColumns columns(*facts.encoder);
  if (model.columns.size() != columns.columns()) does_not_fit();
  for (std::size_t j = 0; j < columns.columns(); ++j) {
    const ColumnScale& scale = model.columns[j];
    if (scale.start.size() != columns.levels(j) || scale.width.size() != columns.levels(j))
      does_not_fit();
    for (const std::vector<double>* part : {&scale.start, &scale.width})
      for (const double x : *part)
        if (!(x >= 0 && x <= 1.000001)) does_not_fit();
  }
  if (model.start) check_kernel_model(*model.start, columns, margins_of(facts));
  for (const GridTree& tree : model.trees) check(tree, columns.columns(), margins_of(facts));
  return std::make_unique<Predictor>(std::move(model), facts);
}

std::unique_ptr<Model> load_boosting(const Files& files, Facts& facts) {
  BoostingModel model;
  try {
    const json j = model_json(files);
    if (!is_known_schema(j.at("schema")) || j.at("type") != "boosting")
      throw DataError("'model.json' is not a boosted model that this version knows");
    for (const json& scale : j.at("scales")) {
      model.columns.emplace_back();
      model.columns.back().start = scale.at("start").get<std::vector<double>>();
      model.columns.back().width = scale.at("width").get<std::vector<double>>();
    }
    if (j.contains("start")) model.start = kernel_model_from_json(j.at("start"));
    for (const json& tree : j.at("trees")) {
      GridTree& t = model.trees.emplace_back();
      for (const json& column : tree.at("columns"))
        t.columns.push_back(static_cast<std::uint32_t>(json_count(column, "a column", 0xffffffff)));
      for (const json& cuts : tree.at("cuts")) {
        t.cuts.emplace_back();
        for (const json& cut : cuts)
          t.cuts.back().push_back(static_cast<std::uint32_t>(json_count(cut, "a cut", kPlaces)));
      }
      t.values = tree.at("values").get<std::vector<double>>();
    }
  } catch (const nlohmann::json::exception&) {
    throw DataError("'model.json' is not a boosted model",
                    "restore it from where the artifact was copied");
  }
  return boosting_predictor(std::move(model), facts);
}

}  // namespace sotto
