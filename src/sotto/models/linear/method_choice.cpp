#include "sotto/models/linear/method_choice.hpp"

namespace sotto {

MethodChoice choose_method(const PublicFacts& facts, const Budget& budget) {
  if (facts.kind == LinearKind::linear) {
    return {Method::sufficient_statistics,
            "regression: noisy moments with an adaptive ridge need one pass and no step size"};
  }
  if (budget.is_pure()) {
    return {Method::objective,
            "a pure epsilon: one noisy objective costs less than many noisy steps"};
  }
  return {Method::gradient, "with Gaussian noise, gradients compose best"};
}

}  // namespace sotto
