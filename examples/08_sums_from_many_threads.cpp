// Sums live on an integer grid: any split over threads gives the same bits, and noise is added
// once, after the merge.
#include <fmt/core.h>

#include <thread>
#include <vector>

#include "sotto/mechanisms/moments.hpp"

int main() {
  using namespace sotto;

  std::vector<double> data;
  for (int i = 0; i < 200000; ++i) data.push_back(0.1 * (i % 1000));

  const MomentPlan plan = plan_variance(
      {.relation = Relation::add_remove, .bounds = Bounds(0, 100), .budget = Budget::zcdp(0.1)});
  auto sum_with = [&](std::size_t threads) {
    std::vector<MomentAccumulator> parts(threads, plan.start());
    std::vector<std::thread> workers;
    for (std::size_t t = 0; t < threads; ++t) {
      workers.emplace_back([&, t] {
        for (std::size_t i = t; i < data.size(); i += threads) parts[t].add(data[i]);
      });
    }
    for (std::thread& worker : workers) worker.join();
    MomentAccumulator whole = plan.start();
    for (const MomentAccumulator& part : parts) whole.merge(part);
    return whole;
  };
  const bool same = sum_with(1).sum() == sum_with(7).sum();
  fmt::print("one thread and seven threads give {} sums\n", same ? "the same" : "DIFFERENT");

  Rng rng;
  fmt::print("variance {:.2f} (in truth 833.33)\n", sum_with(2).finish(rng).value.value);
  return same ? 0 : 1;
}
