#include "sotto/models/preprocess/preprocess_family.hpp"

#include "sotto/models/preprocess/detail/preprocess_model.hpp"
#include "sotto/models/preprocess/detail/preprocess_training.hpp"

namespace sotto {
namespace {

Schema prepare(Schema schema, const TrainingRequest&) {
  schema.basis = NumericBasis::linear;
  return schema;
}

}  // namespace

Family preprocess_family() {
  return {.name = "preprocess",
          .title = "Steps before a model",
          .kinds = {{"bounds", {Task::transform}, "numbers within bounds that are found privately"},
                    {"scale", {Task::transform}, "numbers less their mean, in deviations"},
                    {"bins",
                     {Task::transform},
                     "numbers as one of some bins with about as many records each",
                     {{.name = "bins",
                       .type = OptionType::whole,
                       .value = "B",
                       .help = "how many bins a column has",
                       .fallback = "10",
                       .range = Range::between(2, kMostBins)}}}},
          .methods = {{"histogram", "noisy counts or sums of all columns at once", {"bins"}},
                      {"none", "no noise: NOT PRIVATE", {"bins"}}},
          .prepare = prepare,
          .plan = preprocess_training,
          .load = load_preprocess};
}

}  // namespace sotto
