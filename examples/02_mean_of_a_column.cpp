// The mean of a column, under each neighbouring relation and with each kind of budget.
//
// Bounds are declared, never read from the data; values outside are clamped. Under add_remove the
// number of records is private, so the mean pays for a noisy count, too: one joint release.
#include <fmt/core.h>

#include <cmath>
#include <vector>

#include "sotto/mechanisms/moments.hpp"

int main() {
  using namespace sotto;

  std::vector<double> ages;
  for (int i = 0; i < 5000; ++i) ages.push_back(18 + std::fmod(i * 7.31, 60));

  Rng rng;
  for (Relation relation : {Relation::add_remove, Relation::replace_one, Relation::zero_out}) {
    for (const Budget& budget :
         {Budget::pure(0.5), Budget::zcdp(0.125), Budget::approximate(0.5, 1e-6)}) {
      const MomentPlan plan =
          plan_mean({.relation = relation, .bounds = Bounds(17, 90), .budget = budget});

      // Streaming: records come one by one, nothing but three integers is kept.
      MomentAccumulator accumulator = plan.start();
      for (double age : ages) accumulator.add(age);
      const Statistic mean = std::move(accumulator).finish(rng).value;

      fmt::print("{:<12} {:<26} mean {:7.3f}  noise {} of standard deviation {:.4f}\n",
                 name(relation), budget.describe(), mean.value, mean.noise.distribution,
                 *mean.noise.standard_deviation);
    }
  }
}
