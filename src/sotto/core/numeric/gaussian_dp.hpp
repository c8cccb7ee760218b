// Gaussian differential privacy: the Gaussian mechanism exactly, in every direction.
//
// What       μ-GDP is the guarantee of telling N(0,1) from N(μ,1). δ(ε), ε(δ), the largest μ
//            (smallest noise) for a target (ε,δ), the trade-off curve of f-DP, composition and
//            group privacy.
// Guarantee  delta_upper and epsilon_upper are never below the exact value, the lower ones never
//            above, both within 1e-12 relative.
//            A Gaussian mechanism of noise multiplier s is (1/s)-GDP, and nothing is lost by saying
//            so.
// Method     δ(ε) = φ(u)(R(u) − R(u+μ)), u = ε/μ − μ/2, R the Mills ratio: no cancellation, any δ
//            down to 1e-300.
// Numerics   φ(u) errs by u² roundings; the result is widened by that. Inverses keep a bracket and
//            return its safe end.
// Reference  [BW18] analytic calibration; [DRS22] Gaussian DP; docs/math/composition.md.
#pragma once

#include <cstdint>
#include <span>

#include "sotto/core/values.hpp"

namespace sotto {

double gaussian_log_delta(double mu, double epsilon);  // ln δ(ε), unrounded; −∞ for μ = 0
double gaussian_delta_upper(double mu, double epsilon);
double gaussian_delta_lower(double mu, double epsilon);
double gaussian_epsilon_upper(double mu, Delta delta);
double gaussian_epsilon_lower(double mu, Delta delta);

// The largest μ that is (ε,δ)-DP, rounded down; the noise multiplier is its reciprocal, rounded up.
double gaussian_mu(Epsilon epsilon, Delta delta);
double gaussian_sigma(Epsilon epsilon, Delta delta, double sensitivity = 1);

// The smallest type II error of a test of level false_positive_rate: G_μ.
double gaussian_tradeoff(double mu, double false_positive_rate);

double compose_mu(std::span<const double> mus);        // √Σμ², rounded up
double group_mu(double mu, std::uint64_t group_size);  // kμ, rounded up

// An ε-DP mechanism is μ-GDP with this μ: the smallest Gaussian trade-off curve below that of
// randomized response.
double pure_to_mu(double epsilon);

}  // namespace sotto
