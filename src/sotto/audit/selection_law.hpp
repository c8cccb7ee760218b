// How likely a selection was.
//
// What       The probability that one of k candidates is chosen, by the exponential mechanism and
//            by permute and flip, from the scores divided by the scale of the mechanism.
// Guarantee  None: arithmetic, for whoever attacks a release.
// Method     exponential: e^{s_i}/Σ e^{s_j}. permute_and_flip has the law of the largest score with
//            exponential noise: e^{−g_i} ∫₀¹ Π_{j≠i} (1 − t·e^{−g_j}) dt, g the gap to the best
//            [MS20]; with geometric noise on a fine grid the same, up to ties.
// Numerics   Logarithms throughout; the integral over panels that halve towards 0, where the
//            product of many factors lives. About 10 digits up to 10^5 candidates.
// Reference  [MT07], [MS20]; docs/math/audit.md.
#pragma once

#include <cstddef>
#include <span>

namespace sotto::audit {

// ln P(chosen). scores: at least one, finite; chosen: one of their places.
double log_exponential_law(std::span<const double> scores, std::size_t chosen);
double log_permute_and_flip_law(std::span<const double> scores, std::size_t chosen);

}  // namespace sotto::audit
