#include "sotto/models/linear/method_choice.hpp"

#include <cmath>

#include "sotto/learning/confirmed_budget.hpp"

namespace sotto {
namespace {
constexpr double kHatSignal = 0.5, kMomentSignal = 1000;
}  // namespace

double signal_of(std::uint64_t rows, Relation relation, std::uint64_t contributions,
                 const Budget& budget) {
  return static_cast<double>(rows) * std::sqrt(2 * rho_of(budget)) /
         (contribution_factor(relation) * static_cast<double>(contributions));
}

bool hats_pay(double signal, std::size_t dimension) {
  return signal >= kHatSignal * static_cast<double>(dimension);
}

bool moments_are_sure(double signal, std::size_t dimension) {
  return signal >= kMomentSignal * std::pow(static_cast<double>(dimension), 2);
}

MethodChoice choose_method(const PublicFacts& facts, const Budget& budget) {
  // Second moments of so many coordinates can be neither held nor solved for in reasonable time.
  if (facts.kind == LinearKind::linear && facts.dimension > kManyCoordinates) {
    if (budget.is_pure()) {
      return {
          "sample_aggregate",
          "regression with a pure epsilon on very many coordinates: second moments are too many"};
    }
    return {"gradient", "regression on very many coordinates: second moments are too many"};
  }
  if (facts.kind == LinearKind::linear && budget.is_pure()) {
    return {"functional",
            "regression with a pure epsilon: Laplace noise on the coefficients of the objective"};
  }
  if (facts.kind == LinearKind::linear) {
    const double signal = signal_of(facts.rows, facts.relation, facts.contributions, budget);
    if (moments_are_sure(signal, facts.dimension))
      return {"sufficient_statistics",
              "regression on very many rows: noise is nothing in their moments, which need one "
              "pass"};
    return {"gradient", "regression: gradients cost less than moments of all pairs"};
  }
  if (budget.is_pure()) {
    return {"objective", "a pure epsilon: one noisy objective costs less than many noisy steps"};
  }
  return {"gradient", "with Gaussian noise, gradients compose best"};
}

}  // namespace sotto
