#include "sotto/models/tree/tree_family.hpp"

#include "sotto/models/tree/detail/tree_model.hpp"
#include "sotto/models/tree/detail/tree_training.hpp"

namespace sotto {
namespace {

Schema prepare(Schema schema, const TrainingRequest&) {
  schema.basis = NumericBasis::linear;  // a tree has bins of its own
  return schema;
}

TreeMethod method_of(const std::string& name) {
  if (name == "histogram") return TreeMethod::histogram;
  if (name == "sulq") return TreeMethod::sulq;
  if (name == "random") return TreeMethod::random;
  return TreeMethod::exponential;
}

std::unique_ptr<TrainingPlan> plan(const Facts& facts, const TrainingRequest& request) {
  check_target(facts, facts.classes().empty() ? Task::regress : Task::classify, "tree", "linear");
  return tree_training(
      facts, request,
      {.method = method_of(request.method), .depth = request.options.whole("depth")});
}

Merit merit(const Situation& s) {
  if (!s.pure) return {0.2, "few questions cost little"};
  if (s.classes == 0)
    return {s.signal >= 2500 && s.columns > 10 ? 0.6 : 0.3,
            "a pure epsilon, many columns: few questions cost little"};
  return {s.classes <= 8 ? 0.8 : 0.3, "a pure epsilon, few classes: few questions cost little"};
}

}  // namespace

Family tree_family() {
  return {.name = "tree",
          .title = "Decision trees",
          .kinds = {{"tree", {Task::classify, Task::regress}, "one decision tree, easy to read"}},
          .methods = {{"exponential", "questions by the exponential mechanism", {"depth"}},
                      {"histogram", "the best questions by noisy counts, Gini impurity", {"depth"}},
                      {"sulq", "the best questions by noisy counts, information gain", {"depth"}},
                      {"random", "random questions, all of the budget for the answers", {"depth"}},
                      {"none", "no noise: NOT PRIVATE", {"depth"}}},
          .options = {{.name = "depth",
                       .type = OptionType::whole,
                       .value = "D",
                       .help = "questions from the root to a leaf",
                       .fallback = "4",
                       .range = Range::between(1, 12)}},
          .prepare = prepare,
          .plan = plan,
          .load = load_trees,
          .merit = merit};
}

}  // namespace sotto
