#include "sotto/models/synthesis/synthesis_family.hpp"

#include "sotto/models/synthesis/detail/synthesis_model.hpp"
#include "sotto/models/synthesis/detail/synthesis_training.hpp"

namespace sotto {
namespace {

Schema prepare(Schema schema, const TrainingRequest&) {
  schema.basis = NumericBasis::linear;  // numbers are read as they are
  return schema;
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
                  {"none", "no noise: NOT PRIVATE", {"bins"}}},
      .options = {{.name = "bins",
                   .type = OptionType::whole,
                   .value = "N",
                   .help = "bins of a numeric column, unless it has one for each whole number",
                   .fallback = "128",
                   .range = Range::between(1, 4096)}},
      .prepare = prepare,
      .plan = synthesis_training,
      .load = load_synthesis};
}

}  // namespace sotto
