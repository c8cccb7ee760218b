#include "sotto/models/pca/pca_family.hpp"

#include "sotto/models/pca/detail/pca_model.hpp"
#include "sotto/models/pca/detail/pca_training.hpp"

namespace sotto {
namespace {

Schema prepare(Schema schema, const TrainingRequest&) {
  schema.basis = NumericBasis::linear;
  return schema;
}

}  // namespace

Family pca_family() {
  const std::vector<std::string> all = {"components", "centring"};
  return {
      .name = "pca",
      .title = "Principal components",
      .kinds = {{"pca", {Task::transform}, "directions that hold most of the variance"}},
      .methods = {{"auto", "chosen by public facts"},
                  {"gauss", "symmetric Gaussian noise on the scatter matrix", all},
                  {"laplace", "Laplace noise on the moments, pure epsilon", all},
                  {"bingham",
                   "one direction after the other by the exponential mechanism, pure "
                   "epsilon",
                   all},
                  {"sulq", "noise on every entry, a baseline", {"components"}},
                  {"none", "no noise: NOT PRIVATE", all}},
      .options = {{.name = "components",
                   .type = OptionType::whole,
                   .value = "K",
                   .help = "how many directions; default 2",
                   .range = Range::between(1, 4000)},
                  {.name = "centring",
                   .type = OptionType::choice,
                   .value = "C",
                   .help = "what variance is about: a mean that is paid for, or the middle of the "
                           "declared bounds",
                   .fallback = "paid",
                   .choices = {"paid", "declared"}}},
      .prepare = prepare,
      .plan = pca_training,
      .load = load_pca};
}

}  // namespace sotto
