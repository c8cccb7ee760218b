#include "sotto/models/synthesis/synthesis_family.hpp"

#include "sotto/models/synthesis/detail/histogram_training.hpp"
#include "sotto/models/synthesis/detail/synthesis_model.hpp"
#include "sotto/models/synthesis/detail/synthesis_training.hpp"

namespace sotto {
namespace {

Schema prepare(Schema schema, const TrainingRequest&) {
  schema.basis = NumericBasis::linear;  // numbers are read as they are
  return schema;
}

std::unique_ptr<TrainingPlan> plan(const Facts& facts, const TrainingRequest& request) {
  return request.method == "histogram" ? histogram_training(facts, request)
                                       : synthesis_training(facts, request);
}

}  // namespace

Family synthesis_family() {
  return {
      .name = "synthesis",
      .title = "Synthetic tables",
      .kinds = {{"synthesis",
                 {Task::generate},
                 "a generator of records with the same marginals; sotto synthesize draws them"}},
      .methods = {{"marginals", "noisy counts of columns and of pairs of columns", {"bins"}},
                  {"columns", "noisy counts of columns, as if none depended on another", {"bins"}},
                  {"histogram",
                   "noisy counts of all combinations of values; for few columns",
                   {"bins"}},
                  {"none", "no noise: NOT PRIVATE", {"bins"}}},
      .options = {{.name = "bins",
                   .type = OptionType::whole,
                   .value = "N",
                   .help = "fine bins of a numeric column, of which its levels are made",
                   .fallback = "128",
                   .range = Range::between(1, 4096)}},
      .prepare = prepare,
      .plan = plan,
      .load = load_synthesis};
}

}  // namespace sotto
