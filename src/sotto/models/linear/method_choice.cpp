#include "sotto/models/linear/method_choice.hpp"

#include <algorithm>
#include <iterator>

#include "sotto/learning/basis.hpp"

namespace sotto {

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
    return {"sufficient_statistics",
            "regression: noisy moments with an adaptive ridge need one pass and no step size"};
  }
  if (budget.is_pure()) {
    return {"objective", "a pure epsilon: one noisy objective costs less than many noisy steps"};
  }
  return {"gradient", "with Gaussian noise, gradients compose best"};
}

Schema with_basis(Schema schema, LinearKind kind, std::string_view method) {
  constexpr std::string_view kBending[] = {"auto", "gradient", "objective", "output", "none"};
  const bool bends =
      std::find(std::begin(kBending), std::end(kBending), method) != std::end(kBending);
  return settle_basis(std::move(schema), bends && kind != LinearKind::linear);
}

}  // namespace sotto
