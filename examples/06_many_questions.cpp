// A thousand questions, three of them answered yes: the sparse vector pays for the three.
#include <fmt/core.h>

#include "sotto/mechanisms/sparse_vector.hpp"

int main() {
  using namespace sotto;

  // "Did more than 500 people visit on day d?" One person changes each count by at most one.
  const auto visitors = [](int day) { return day % 300 == 150 ? 900.0 : 100.0 + day % 50; };

  const SparseVectorPlan plan({.relation = Relation::add_remove,
                               .budget = Budget::pure(1),
                               .answers = 3,
                               .monotonic = true,
                               .numeric = true});
  fmt::print("{}\n", plan.describe());
  Rng rng;
  SparseVectorStream stream = plan.start(rng);
  for (int day = 0; day < 1000 && !stream.exhausted(); ++day) {
    const SparseAnswer answer =
        stream.ask({.value = visitors(day), .threshold = 500, .sensitivity = 1}, rng);
    if (answer.above) fmt::print("day {:3}: above, about {:.0f}\n", day, *answer.value);
  }
}
