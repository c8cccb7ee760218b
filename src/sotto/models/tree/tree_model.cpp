#include "sotto/models/tree/detail/tree_model.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"
#include "sotto/core/json_text.hpp"
#include "sotto/learning/model_file.hpp"
#include "sotto/models/tree/detail/tree_portrait.hpp"

namespace sotto {
namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t kMaximalDepth = 16;
constexpr std::uint64_t kLevels = 0xffffffff;

json to_json(const TreeModel& tree) {
  json questions = json::array();
  for (const Question& q : tree.questions) questions.push_back({q.column, q.level});
  return {{"depth", tree.depth}, {"questions", std::move(questions)}, {"answers", tree.answers}};
}

class Predictor final : public SupervisedModel {
 public:
  Predictor(std::vector<TreeModel> trees, const Facts& facts)
      : SupervisedModel(facts),
        trees_(std::move(trees)),
        columns_(*facts.encoder),
        encoder_(facts.encoder) {}

  Portrait portrait() const override { return portrait_of(trees_, *encoder_); }

  Files files() const override {
    json j = {{"schema", 1}, {"type", trees_.size() == 1 ? "tree" : "forest"}};
    if (trees_.size() == 1) {
      j.update(to_json(trees_.front()));
    } else {
      j["trees"] = json::array();
      for (const TreeModel& tree : trees_) j["trees"].push_back(to_json(tree));
    }
    return {{"model.json", j.dump(1) + "\n"}};
  }

 private:
  std::vector<Prediction> predict(const Block& block) const override {
    const Table& table = block.table();
    std::vector<Prediction> predictions(table.rows());
    std::vector<BinnedColumns::Cell> cells(columns_.columns());
    for (std::size_t i = 0; i < predictions.size(); ++i) {
      columns_.read(table, i, cells);
      std::vector<double> mean;
      for (const TreeModel& tree : trees_) {
        const std::vector<double>& answer = tree.answers[tree.leaf(columns_, cells, tree.depth)];
        mean.resize(answer.size());
        for (std::size_t k = 0; k < mean.size(); ++k)
          mean[k] += answer[k] / static_cast<double>(trees_.size());
      }
      if (task() == Task::regress) {
        predictions[i].value = mean[0];
      } else {
        predictions[i].value =
            static_cast<double>(std::max_element(mean.begin(), mean.end()) - mean.begin());
        predictions[i].probabilities = std::move(mean);
      }
    }
    return predictions;
  }

  std::vector<TreeModel> trees_;
  BinnedColumns columns_;
  std::shared_ptr<const Encoder> encoder_;
};

[[noreturn]] void does_not_fit() {
  throw DataError("the model does not fit its encoder",
                  "restore both files from where the artifact was copied");
}

}  // namespace

std::size_t TreeModel::leaf(const BinnedColumns& columns,
                            std::span<const BinnedColumns::Cell> cells, std::size_t levels) const {
  std::size_t at = 0;
  for (std::size_t l = 0; l < levels; ++l) {
    const Question& q = questions[(std::size_t{1} << l) - 1 + at];
    const std::uint32_t level = cells[q.column].level;
    const bool yes = columns.is_numeric(q.column) ? level >= q.level : level == q.level;
    at = 2 * at + (yes ? 1 : 0);
  }
  return at;
}

std::unique_ptr<Model> tree_predictor(std::vector<TreeModel> trees, const Facts& facts) {
  if (!facts.encoder || !facts.encoder->has_target() || trees.empty()) does_not_fit();
  const BinnedColumns columns(*facts.encoder);
  const std::size_t classes = facts.classes().size();
  for (const TreeModel& model : trees) {
    if (model.depth > kMaximalDepth ||
        model.questions.size() != (std::size_t{1} << model.depth) - 1 ||
        model.answers.size() != std::size_t{1} << model.depth)
      does_not_fit();
    for (const Question& q : model.questions)
      if (q.column >= columns.columns() || q.level >= columns.levels(q.column)) does_not_fit();
    for (const std::vector<double>& answer : model.answers) {
      if (answer.size() != std::max<std::size_t>(1, classes)) does_not_fit();
      for (const double x : answer)
        if (!(std::abs(x) <= 1) || (classes > 0 && x < 0)) does_not_fit();
    }
  }
  return std::make_unique<Predictor>(std::move(trees), facts);
}

std::unique_ptr<Model> load_trees(const Files& files, Facts& facts) {
  std::vector<TreeModel> trees;
  const auto read = [&](const json& j) {
    TreeModel& model = trees.emplace_back();
    model.depth = json_count(j.at("depth"), "the depth of the tree", kMaximalDepth);
    for (const json& q : j.at("questions"))
      model.questions.push_back(
          {static_cast<std::uint32_t>(json_count(q.at(0), "a column", kLevels)),
           static_cast<std::uint32_t>(json_count(q.at(1), "a level", kLevels))});
    model.answers = j.at("answers").get<std::vector<std::vector<double>>>();
  };
  try {
    const json j = model_json(files);
    const bool forest = j.at("type") == "forest";
    if (j.at("schema") != 1 || !(forest || j.at("type") == "tree"))
      throw DataError("'model.json' is no tree and no forest that this version knows");
    if (forest) {
      for (const json& tree : j.at("trees")) read(tree);
    } else {
      read(j);
    }
  } catch (const nlohmann::json::exception&) {
    throw DataError("'model.json' is not a tree", "restore it from where the artifact was copied");
  }
  return tree_predictor(std::move(trees), facts);
}

}  // namespace sotto
