#include "sotto/models/boosting/boosting_family.hpp"

#include "sotto/models/boosting/detail/boosting_model.hpp"
#include "sotto/models/boosting/detail/boosting_training.hpp"

namespace sotto {
namespace {

Schema prepare(Schema schema, const TrainingRequest&) {
  schema.basis = NumericBasis::linear;  // trees cut by themselves
  return schema;
}

std::unique_ptr<TrainingPlan> plan(const Facts& facts, const TrainingRequest& request) {
  const Task task = facts.classes().empty() ? Task::regress : Task::classify;
  check_target(facts, task, "boosting", "linear");
  return boosting_training(
      facts, request,
      {.trees = request.options.maybe_whole("trees"), .batch = request.options.whole("batch")});
}

Merit merit(const Situation& s) {
  if (s.pure) return {};
  if (s.classes > 2) return {0.5, "interactions of few columns"};
  if (s.signal >= 11000) return {0.95, "many records: trees find interactions and follow them"};
  if (s.classes == 2) return {0.5, "interactions of few columns"};
  return {0.7, "few records: trees on the columns that matter"};
}

}  // namespace

Family boosting_family() {
  return {.name = "boosting",
          .title = "Boosted trees",
          .kinds = {{"boosting",
                     {Task::classify, Task::regress},
                     "many small trees, each mending what is left; for strong interactions"}},
          .methods = {{"random", "random intervals, noisy Newton leaves", {"trees", "batch"}},
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
