#include "sotto/models/linear/method_choice.hpp"

#include <algorithm>

namespace sotto {

MethodChoice choose_method(const PublicFacts& facts, const Budget& budget) {
  // Second moments of so many coordinates can be neither held nor solved for in reasonable time.
  if (facts.kind == LinearKind::linear && facts.dimension > kManyCoordinates) {
    if (budget.is_pure()) {
      return {
          Method::sample_aggregate,
          "regression with a pure epsilon on very many coordinates: second moments are too many"};
    }
    return {Method::gradient, "regression on very many coordinates: second moments are too many"};
  }
  if (facts.kind == LinearKind::linear && budget.is_pure()) {
    return {Method::functional,
            "regression with a pure epsilon: Laplace noise on the coefficients of the objective"};
  }
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

Schema with_basis(Schema schema, LinearKind kind, Method method, const std::optional<Budget>&) {
  if (schema.basis != NumericBasis::automatic) return schema;
  const auto numeric =
      std::count_if(schema.columns.begin(), schema.columns.end(), [](const ColumnSchema& c) {
        return c.type == ColumnType::numeric && c.role == Role::feature;
      });
  const bool few = numeric > 0 && numeric <= static_cast<std::ptrdiff_t>(kFewColumns);
  const bool bends = method == Method::automatic || method == Method::gradient ||
                     method == Method::objective || method == Method::output ||
                     method == Method::none;
  schema.basis =
      few && bends && kind != LinearKind::linear ? NumericBasis::hats : NumericBasis::linear;
  return schema;
}

}  // namespace sotto
