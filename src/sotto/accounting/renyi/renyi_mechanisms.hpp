// Rényi divergences of single mechanisms, exact or bounded from above, at any real order α > 1.
//
// What       One function per mechanism; shift and scale are already divided by the noise (t =
//            sensitivity / scale).
// Guarantee  max over both directions of the relation; never below the true divergence.
// Method     Closed forms, and otherwise A − 1 = E_Q[(P/Q)^α − 1 − α(P/Q − 1)], a sum of positive
//            terms (power_excess), so that divergences of 1e-15 keep their digits. D_α = ln A / (α
//            − 1).
// Numerics   Widened by 1e-12 relative, and by the roundings of the exponents once moments are
//            summed as logarithms.
// Reference  [Mir17] Laplace, randomized response; [BS16] pure; [DDR20] bounded range; [CKS20]
//            discrete Gaussian; docs/math/renyi.md.
#pragma once

#include <cstdint>
#include <span>

namespace sotto {

// The law of the loss ln(P/Q) under Q, as atoms. Masses sum to at most 1; what is missing has loss
// 0. log_mass matters where the mass underflows: with ε = 800 the mass of the loss +ε is e^−800,
//    and it is all that counts.
struct RatioAtom {
  double mass, loss, log_mass;
};

// ln E_Q[(1 − q + q·P/Q)^α] ÷ (α − 1), the larger of it and the same with P and Q exchanged. q = 1:
// the plain divergence.
double renyi_of_atoms(std::span<const RatioAtom> atoms, double rate, double order);

double renyi_pure(double epsilon, double order);  // worst ε-DP mechanism
double renyi_randomized_response(double epsilon, std::uint64_t categories, double order);  // k-ary
double renyi_laplace(double shift, double order);  // t = sensitivity / scale
double renyi_discrete_laplace(double unit, std::uint64_t steps,
                              double order);               // unit = granularity / scale
double renyi_bounded_range(double epsilon, double order);  // exponential mechanism

}  // namespace sotto
