// Budget: how much one computation may cost, and thereby which noise it uses.
//
// What       pure ε → discrete Laplace; ρ (zCDP) → discrete Gaussian with σ² = Δ²/(2ρ); (ε, δ) →
//            discrete Gaussian with the analytic calibration (or, by name, the classic one).
// Guarantee  None of its own: a plan made from a budget states an event that costs at most the
//            budget.
// Method     A closed variant. Mechanisms that are pure DP spend a ρ through ε²/2 ≤ ρ, those of
//            bounded range through ε²/8 ≤ ρ.
// Numerics   Every conversion and every part of a split rounds down, so parts never add up to more
//            than the whole.
// Reference  [BS16] for ε²/2; [CR21] for ε²/8; docs/math/additive-mechanisms.md.
#pragma once

#include <string>
#include <variant>

#include "sotto/core/values.hpp"

namespace sotto {

enum class GaussianCalibration { analytic, classic };

struct PureBudget {
  Epsilon epsilon;
};
struct ApproximateBudget {
  Epsilon epsilon;
  Delta delta;
  GaussianCalibration calibration = GaussianCalibration::analytic;
};
struct ZcdpBudget {
  Rho rho;
};

class Budget {
 public:
  using Kind = std::variant<PureBudget, ApproximateBudget, ZcdpBudget>;

  static Budget pure(double epsilon) { return Budget(PureBudget{Epsilon(epsilon)}); }
  static Budget approximate(double epsilon, double delta,
                            GaussianCalibration calibration = GaussianCalibration::analytic);
  static Budget zcdp(double rho) { return Budget(ZcdpBudget{Rho(rho)}); }

  const Kind& kind() const { return kind_; }
  bool is_pure() const { return std::holds_alternative<PureBudget>(kind_); }

  // The fraction 0 < f ≤ 1 of this budget: ε, ρ (and δ) times f. Parts whose fractions sum to at
  // most 1 cost at most the whole.
  Budget part(double fraction) const;

  // The ε a pure mechanism may spend: ε itself (a δ stays unused), or the largest with ε²/2 ≤ ρ.
  double pure_epsilon() const;
  // The ε a mechanism of ε-bounded range may spend: ε itself, or the largest with ε²/8 ≤ ρ.
  double bounded_range_epsilon() const;

  std::string describe() const;  // "epsilon 0.5", "epsilon 1, delta 1e-06", "rho 0.1"

 private:
  explicit Budget(Kind kind) : kind_(kind) {}
  Kind kind_;
};

}  // namespace sotto
