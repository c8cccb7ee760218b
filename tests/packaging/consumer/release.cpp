// Mechanisms and accounting together: a private count, and what the accountant says about its
// event.
#include <iostream>
#include <sotto/accounting/account.hpp>
#include <sotto/mechanisms/counts.hpp>

int main() {
  const sotto::CountPlan plan(
      {.relation = sotto::Relation::add_remove, .budget = sotto::Budget::pure(0.5)});
  sotto::Rng rng;
  const auto release = plan.run(1000, rng);
  const sotto::Spec spec{plan.relation(), {release.event}};
  const double epsilon = sotto::epsilon(spec, sotto::Delta(1e-9)).upper;
  const bool near = release.value.value > 800 && release.value.value < 1200;
  std::cout << (near && epsilon > 0.49 && epsilon < 0.51 ? "as promised" : "broken") << '\n';
}
