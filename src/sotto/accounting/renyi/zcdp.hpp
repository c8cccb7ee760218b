// Concentrated differential privacy: zero-concentrated (ρ) and truncated (ρ, ω).
//
// What       ρ of events, sums of ρ, and conversions to (ε, δ) both basic and tight.
// Guarantee  ρ-zCDP bounds the Rényi divergence of every order α by ρα, so the conversions of
//            renyi_conversion.hpp apply at the best order.
//            (ε, δ) parts count as δ-approximate zCDP with ρ = ε²/2 and their δ is set aside.
// Method     gaussian 1/(2s²), gdp μ²/2, pure ε²/2, bounded range ε²/8, discrete Gaussian 1/(2s²),
//            GNMax 1/σ².
// Numerics   Sums round up.
// Reference  [BS16], [BDRS18] truncated, [CKS20], [DDR20]; docs/math/composition.md.
#pragma once

#include "sotto/accounting/bound.hpp"
#include "sotto/accounting/renyi/renyi_conversion.hpp"
#include "sotto/core/spec.hpp"
#include "sotto/core/values.hpp"

namespace sotto {

double zcdp_epsilon_basic(double rho, Delta delta);       // ρ + 2√(ρ ln(1/δ))
OrderChoice zcdp_epsilon_tight(double rho, Delta delta);  // the best Rényi order
double zcdp_rho(Epsilon epsilon, Delta delta);  // the largest ρ whose tight conversion is at most ε
OrderChoice tcdp_epsilon(double rho, double omega, Delta delta);  // orders below ω only

struct Concentrated {
  double rho = 0, delta = 0;
};
// Throws Unsupported for events that are not concentrated (sampled, truncated, …).
Concentrated concentrated_cost(const Event& event, Relation relation);

Bound zcdp_epsilon(const Spec& spec, Delta delta);
Bound zcdp_delta(const Spec& spec, double epsilon);

}  // namespace sotto
