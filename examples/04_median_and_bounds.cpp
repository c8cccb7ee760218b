// Bounds that nobody could declare are estimated with a part of the budget, then the median is
// released with the rest.
#include <fmt/core.h>

#include <vector>

#include "sotto/mechanisms/bounds_estimate.hpp"
#include "sotto/mechanisms/quantile.hpp"

int main() {
  using namespace sotto;

  std::vector<double> incomes;
  for (int i = 0; i < 4000; ++i) incomes.push_back(20000 + 15.0 * i);

  const Budget whole = Budget::pure(1);
  Rng rng;
  const BoundsPlan bounds_plan({.relation = Relation::add_remove, .budget = whole.part(0.2)});
  const Release<BoundsEstimate> estimate = bounds_plan.run(incomes, rng);
  if (!estimate.value.bounds) {
    fmt::print("too few records to say anything about their range\n");
    return 0;
  }
  const Bounds bounds = *estimate.value.bounds;
  fmt::print("estimated bounds [{}, {}]\n", bounds.lower(), bounds.upper());

  const QuantilePlan median({.relation = Relation::add_remove,
                             .bounds = bounds,
                             .probability = 0.5,
                             .budget = whole.part(0.8)});
  fmt::print("median {:.0f} (in truth {})\n", median.run(incomes, rng).value.value,
             20000 + 15 * 2000);
}
