// Geometric draws, exactly.
//
// What       geometric(p, q): failures before the first success of a coin p/q.
//            geometric_exp(t): X ≥ 0 with P(X ≥ x) = exp(−x/t), i.e. success probability 1 −
//            exp(−1/t).
// Guarantee  Exact for uniform input words, conditioned on the stated range.
// Method     X = U + t·V with U uniform below t kept with probability exp(−U/t), V the run of coins
//            exp(−1) [CKS20, Alg. 2].
// Numerics   t ≤ 2^53; V > 511 is redrawn, so X < 2^62. Redrawing costs less than e^−512 in total
//            variation.
// Reference  [CKS20]; docs/math/exact-noise.md.
#pragma once

#include <cstdint>

#include "sotto/core/rng.hpp"

namespace sotto {

// 1 ≤ p ≤ q.
std::uint64_t geometric(Rng& rng, std::uint64_t p, std::uint64_t q);

// 1 ≤ t ≤ 2^53.
std::uint64_t geometric_exp(Rng& rng, std::uint64_t t);

}  // namespace sotto
