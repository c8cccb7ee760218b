// How many people said yes? A count, released with pure differential privacy.
//
// A plan is made first, from public facts only. It can say what it will cost before any data is
// there.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "sotto/core/event_json.hpp"
#include "sotto/mechanisms/counts.hpp"

int main() {
  using namespace sotto;

  // One person more or less must not show: epsilon 0.5.
  const CountPlan plan({.relation = Relation::add_remove, .budget = Budget::pure(0.5)});
  fmt::print("plan:   {}\n", plan.describe());
  fmt::print("event:  {}\n", to_json(plan.event()).dump());

  // Only now does the data come in. The generator is seeded by the operating system.
  Rng rng;
  const Release<Statistic> release = plan.run(/*count=*/1234, rng);
  fmt::print("result: {} (noise within ±{} in 95 of 100 cases)\n", release.value.value,
             *release.value.noise.half_width_95);
}
