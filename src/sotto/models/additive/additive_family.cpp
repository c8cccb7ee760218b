#include "sotto/models/additive/additive_family.hpp"

#include "sotto/models/kernel/detail/kernel_model.hpp"
#include "sotto/models/kernel/detail/kernel_training.hpp"

namespace sotto {
namespace {

Schema prepare(Schema schema, const TrainingRequest&) {
  schema.basis = NumericBasis::linear;  // the step functions bend by themselves
  return schema;
}

std::unique_ptr<TrainingPlan> plan(const Facts& facts, const TrainingRequest& request) {
  const Task task = facts.classes().empty() ? Task::regress : Task::classify;
  check_target(facts, task, "additive", "linear");
  return kernel_training(facts, request,
                         {.iterations = request.options.maybe_whole("iterations"),
                          .main_only = true,
                          .pairs = request.options.whole("pairs")});
}

Merit merit(const Situation& s) {
  if (s.pure) return {};
  return {0.3, "a step function of each column"};
}

}  // namespace

Family additive_family() {
  return {.name = "additive",
          .title = "Additive models",
          .kinds = {{"additive",
                     {Task::classify, Task::regress},
                     "the sum of one step function of each column; easy to explain"}},
          .methods = {{"gradient", "noisy descent: Gaussian noise", {"iterations", "pairs"}},
                      {"none", "no noise: NOT PRIVATE", {"iterations", "pairs"}}},
          .options = {{.name = "iterations",
                       .type = OptionType::whole,
                       .value = "T",
                       .help = "steps of the descent; default by a public rule",
                       .range = Range::between(1, 100000)},
                      {.name = "pairs",
                       .type = OptionType::whole,
                       .value = "N",
                       .help = "pairs of columns that also count together, the most telling ones",
                       .fallback = "0",
                       .range = Range::between(0, 1000)}},
          .prepare = prepare,
          .plan = plan,
          .load = load_kernel,
          .merit = merit};
}

}  // namespace sotto
