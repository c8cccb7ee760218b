// The classic calibration of Gaussian noise, for comparison.
//
// What       classic_gaussian_sigma(ε, δ) = √(2 ln(1.25/δ))/ε, for ε < 1. The exact σ, which is
//            smaller, is gaussian_sigma() of core/numeric/gaussian_dp.hpp.
// Guarantee  Continuous noise of standard deviation σ on a query of ℓ2-sensitivity 1 is (ε, δ)-DP.
// Method     The formula.
// Numerics   Rounded up.
// Reference  [DR14, App. A]; docs/math/additive-mechanisms.md.
#pragma once

#include "sotto/core/values.hpp"

namespace sotto {

double classic_gaussian_sigma(Epsilon epsilon, Delta delta);  // throws InvalidArgument for ε ≥ 1

}  // namespace sotto
