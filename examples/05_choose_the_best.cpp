// Which candidate is the best? Selection releases a name, not the scores.
#include <fmt/core.h>

#include <vector>

#include "sotto/mechanisms/selection.hpp"

int main() {
  using namespace sotto;

  const std::vector<double> votes{120, 250, 240, 13, 90};
  Rng rng;
  // One voter more changes every count in the same direction: monotonic, which halves the noise.
  for (Selector selector :
       {Selector::exponential, Selector::permute_and_flip, Selector::noisy_max_laplace}) {
    const SelectionPlan plan({.relation = Relation::add_remove,
                              .sensitivity = 1,
                              .budget = Budget::pure(0.2),
                              .selector = selector,
                              .monotonic = true});
    int wins[5] = {};
    for (int i = 0; i < 1000; ++i)
      ++wins[plan.run(votes, rng).value];  // each of these runs would cost epsilon 0.2
    fmt::print("{:<18} candidate 1 in {} of 1000, candidate 2 in {}\n", name(selector), wins[1],
               wins[2]);
  }
  const TopKPlan top(
      3, {.relation = Relation::add_remove, .budget = Budget::pure(1), .monotonic = true});
  fmt::print("{}\n", top.describe());
  for (std::size_t i : top.run(votes, rng).value) fmt::print("  candidate {}\n", i);
}
