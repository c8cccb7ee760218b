#include "sotto/models/tree/detail/tree_model.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"
#include "sotto/core/json_text.hpp"
#include "sotto/learning/model_file.hpp"

namespace sotto {
namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t kMaximalDepth = 16;
constexpr std::uint64_t kLevels = 0xffffffff;

class Predictor final : public SupervisedModel {
 public:
  Predictor(TreeModel model, const Facts& facts)
      : SupervisedModel(facts), model_(std::move(model)), columns_(*facts.encoder) {}

  Files files() const override {
    json questions = json::array();
    for (const Question& q : model_.questions) questions.push_back({q.column, q.level});
    const json j = {{"schema", 1},
                    {"type", "tree"},
                    {"depth", model_.depth},
                    {"questions", std::move(questions)},
                    {"answers", model_.answers}};
    return {{"model.json", j.dump(1) + "\n"}};
  }

 private:
  std::vector<Prediction> predict(const Block& block) const override {
    const Table& table = block.table();
    std::vector<Prediction> predictions(table.rows());
    std::vector<BinnedColumns::Cell> cells(columns_.columns());
    for (std::size_t i = 0; i < predictions.size(); ++i) {
      columns_.read(table, i, cells);
      const std::vector<double>& answer =
          model_.answers[model_.leaf(columns_, cells, model_.depth)];
      if (task() == Task::regress) {
        predictions[i].value = answer[0];
      } else {
        predictions[i].probabilities = answer;
        predictions[i].value =
            static_cast<double>(std::max_element(answer.begin(), answer.end()) - answer.begin());
      }
    }
    return predictions;
  }

  TreeModel model_;
  BinnedColumns columns_;
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

std::unique_ptr<Model> tree_predictor(TreeModel model, const Facts& facts) {
  if (!facts.encoder || !facts.encoder->has_target()) does_not_fit();
  const BinnedColumns columns(*facts.encoder);
  const std::size_t classes = facts.classes().size();
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
  return std::make_unique<Predictor>(std::move(model), facts);
}

std::unique_ptr<Model> load_tree(const Files& files, Facts& facts) {
  TreeModel model;
  try {
    const json j = model_json(files);
    if (j.at("schema") != 1 || j.at("type") != "tree")
      throw DataError("'model.json' is not a tree that this version knows");
    model.depth = json_count(j.at("depth"), "the depth of the tree", kMaximalDepth);
    for (const json& q : j.at("questions"))
      model.questions.push_back(
          {static_cast<std::uint32_t>(json_count(q.at(0), "a column", kLevels)),
           static_cast<std::uint32_t>(json_count(q.at(1), "a level", kLevels))});
    model.answers = j.at("answers").get<std::vector<std::vector<double>>>();
  } catch (const nlohmann::json::exception&) {
    throw DataError("'model.json' is not a tree", "restore it from where the artifact was copied");
  }
  return tree_predictor(std::move(model), facts);
}

}  // namespace sotto
