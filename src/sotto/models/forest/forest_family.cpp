#include "sotto/models/forest/forest_family.hpp"

#include "sotto/models/tree/detail/tree_model.hpp"
#include "sotto/models/tree/detail/tree_training.hpp"

namespace sotto {
namespace {

Schema prepare(Schema schema, const TrainingRequest&) {
  schema.basis = NumericBasis::linear;  // trees have bins of their own
  return schema;
}

std::unique_ptr<TrainingPlan> plan(const Facts& facts, const TrainingRequest& request) {
  check_target(facts, facts.classes().empty() ? Task::regress : Task::classify, "forest", "linear");
  const bool random = request.method == "random";
  return tree_training(facts, request,
                       {.method = random                          ? TreeMethod::random
                                  : request.method == "histogram" ? TreeMethod::histogram
                                                                  : TreeMethod::exponential,
                        .depth = request.options.maybe_whole("depth").value_or(random ? 8 : 4),
                        .trees = request.options.maybe_whole("trees").value_or(random ? 16 : 4),
                        .disjoint = !random || request.options.text("records") == "disjoint"});
}

}  // namespace

Family forest_family() {
  return {.name = "forest",
          .title = "Forests",
          .kinds = {{"forest", {Task::classify, Task::regress}, "the mean of several trees"}},
          .methods = {{"exponential",
                       "questions by the exponential mechanism, records of its own for each tree",
                       {"depth", "trees"}},
                      {"histogram",
                       "the best questions by noisy counts, records of its own for each tree",
                       {"depth", "trees"}},
                      {"random", "random questions", {"depth", "trees", "records"}},
                      {"none", "no noise: NOT PRIVATE", {"depth", "trees"}}},
          .options = {{.name = "depth",
                       .type = OptionType::whole,
                       .value = "D",
                       .help = "questions from the root to a leaf; default 4, 8 for random ones",
                       .range = Range::between(1, 12)},
                      {.name = "trees",
                       .type = OptionType::whole,
                       .value = "N",
                       .help = "how many; default 4, 16 with random questions",
                       .range = Range::between(1, 1000)},
                      {.name = "records",
                       .type = OptionType::choice,
                       .value = "R",
                       .help = "with random questions each tree sees all records, or a keyed hash "
                               "gives each record to one tree",
                       .fallback = "shared",
                       .choices = {"shared", "disjoint"}}},
          .prepare = prepare,
          .plan = plan,
          .load = load_trees};
}

}  // namespace sotto
