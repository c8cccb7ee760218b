#include "sotto/models/boosting/boosting_family.hpp"

#include "sotto/learning/confirmed_budget.hpp"
#include "sotto/learning/suggestion.hpp"
#include "sotto/models/boosting/detail/boosting_model.hpp"
#include "sotto/models/boosting/detail/boosting_training.hpp"

namespace sotto {
namespace {

// Records for each unit of noise (of two classes, of a number): from there on trees are better
// after a kernel model, or instead of its last rounds, than alone, and so is that model.
constexpr double kStartOfClasses = 2500, kStartOfNumber = 1500;

Schema prepare(Schema schema, const TrainingRequest&) {
  schema.basis = NumericBasis::linear;  // trees cut by themselves
  return schema;
}

bool starts_smoothly(const Situation& s) {
  return !s.pure && s.classes <= 2 &&
         s.signal >= (s.classes == 2 ? kStartOfClasses : kStartOfNumber);
}

std::unique_ptr<TrainingPlan> plan(const Facts& facts, const TrainingRequest& request) {
  const Task task = facts.classes().empty() ? Task::regress : Task::classify;
  check_target(facts, task, "boosting", "linear");
  const bool after_kernel =
      request.method == "after_kernel" ||
      (request.method == "auto" && starts_smoothly(situation_of(facts, required_budget(request))));
  return boosting_training(facts, request,
                           {.trees = request.options.maybe_whole("trees"),
                            .batch = request.options.whole("batch"),
                            .after_kernel = after_kernel});
}

Merit merit(const Situation& s) {
  if (s.pure) return {};
  if (starts_smoothly(s))
    return {0.95, "many records: smooth interactions first, trees on what they leave or instead"};
  return {0.5, "interactions of few columns"};
}

}  // namespace

Family boosting_family() {
  return {.name = "boosting",
          .title = "Boosted trees",
          .kinds = {{"boosting",
                     {Task::classify, Task::regress},
                     "many small trees, each mending what is left; for strong interactions"}},
          .methods = {{"auto", "after_kernel or random, by a public rule", {"trees", "batch"}},
                      {"after_kernel",
                       "most of the budget for a kernel model, then trees on what it left",
                       {"trees", "batch"}},
                      {"random", "random intervals, noisy Newton leaves", {"trees", "batch"}},
                      {"none", "no noise: NOT PRIVATE", {"trees", "batch"}}},
          .options = {{.name = "trees",
                       .type = OptionType::whole,
                       .value = "N",
                       .help = "trees in all; default by a public rule",
                       .range = Range::between(1, 10000)},
                      {.name = "batch",
                       .type = OptionType::whole,
                       .value = "B",
                       .help = "trees that are fitted to the same residuals",
                       .fallback = "4",
                       .range = Range::between(1, 100)}},
          .prepare = prepare,
          .plan = plan,
          .load = load_boosting,
          .merit = merit};
}

}  // namespace sotto
