// How much Gaussian noise an (ε, δ) needs.
//
// What       log_gaussian_delta(μ, ε): the natural logarithm of the exact δ of continuous Gaussian noise with Δ/σ = μ.
//            analytic_gaussian_sigma(ε, δ): the smallest σ/Δ with δ(σ) ≤ δ. classic_gaussian_sigma: √(2 ln(1.25/δ))/ε, ε < 1 only.
// Guarantee  Continuous noise of standard deviation σ on a query of ℓ2-sensitivity 1 is (ε, δ)-DP. For noise on a lattice see
//            lattice_noise.hpp, which asks for slightly smaller ε and δ.
// Method     With a = ε/μ − μ/2, b = a + μ: δ = Φ(−a) − e^ε Φ(−b) [BW18, Thm 8]. Because e^ε φ(b) = φ(a) this is
//            φ(a)·∫₀^∞ exp(−at − t²/2)(1 − e^{−μt}) dt: a positive integrand, no cancellation, no overflow of e^ε.
//            σ by bisection on the monotone δ(σ).
// Numerics   δ is accurate to 1e-11 relative down to δ = 1e-300 and for ε from 1e-9 to 1e4; the bisection compares with that margin added
//            and returns the upper end, so σ errs upwards by less than 1e-10 relative.
// Reference  [BW18]; [DR14, App. A] for the classic one; docs/math/additive-mechanisms.md.
#pragma once

#include "sotto/core/values.hpp"

namespace sotto {

double log_gaussian_delta(double mu, double epsilon);  // mu > 0, epsilon ≥ 0

double analytic_gaussian_sigma(Epsilon epsilon, Delta delta);
double classic_gaussian_sigma(Epsilon epsilon, Delta delta);  // throws InvalidArgument for ε ≥ 1

}  // namespace sotto
