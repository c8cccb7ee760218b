#include "sotto/models/kernel/kernel_family.hpp"

#include "sotto/models/kernel/detail/kernel_model.hpp"
#include "sotto/models/kernel/detail/kernel_training.hpp"

namespace sotto {
namespace {

Schema prepare(Schema schema, const TrainingRequest&) {
  schema.basis = NumericBasis::linear;  // the features bend by themselves
  return schema;
}

std::unique_ptr<TrainingPlan> plan(const Facts& facts, const TrainingRequest& request) {
  const Task task = facts.classes().empty() ? Task::regress : Task::classify;
  check_target(facts, task, "kernel", "linear");
  return kernel_training(facts, request,
                         {.fourier = request.options.maybe_whole("waves"),
                          .trees = request.options.maybe_whole("trees"),
                          .iterations = request.options.maybe_whole("iterations")});
}

Merit merit(const Situation& s) {
  if (s.pure) return {};
  return s.signal < 1500 ? Merit{0.7, "few records: main effects and smooth interactions"}
                         : Merit{0.9, "enough records for smooth interactions of many columns"};
}

}  // namespace

Family kernel_family() {
  return {
      .name = "kernel",
      .title = "Kernel models",
      .kinds = {{"kernel",
                 {Task::classify, Task::regress},
                 "main effects, random waves and random trees; the most accurate on tables"}},
      .methods = {{"gradient", "noisy descent: Gaussian noise", {"waves", "trees", "iterations"}},
                  {"none", "no noise: NOT PRIVATE", {"waves", "trees", "iterations"}}},
      .options = {{.name = "waves",
                   .type = OptionType::whole,
                   .value = "N",
                   .help = "pairs of random waves; default by a public rule",
                   .range = Range::between(0, 10000)},
                  {.name = "trees",
                   .type = OptionType::whole,
                   .value = "N",
                   .help = "random trees; default by a public rule",
                   .range = Range::between(0, 10000)},
                  {.name = "iterations",
                   .type = OptionType::whole,
                   .value = "T",
                   .help = "steps of the descent; default by a public rule",
                   .range = Range::between(1, 100000)}},
      .prepare = prepare,
      .plan = plan,
      .load = load_kernel,
      .merit = merit};
}

}  // namespace sotto
