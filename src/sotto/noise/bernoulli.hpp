// Coins with an exact bias.
//
// What       bernoulli(p, q): true with probability p/q. bernoulli_exp(a, b): true with probability
//            exp(−a/b). bernoulli_exp(x): the same for a double x ≥ 0, taken as the dyadic fraction
//            it exactly is.
// Guarantee  Exact for uniform input words; no floating-point arithmetic decides anything.
// Method     exp(−γ) for γ ≤ 1 by the alternating series: count how many coins of bias γ/1, γ/2,
//            γ/3, … come up in a row; the count is even with probability exp(−γ). For γ > 1 first
//            one coin exp(−1) per unit [CKS20, Alg. 1].
// Numerics   γ/k is the product of two independent coins γ and 1/k, so no product is formed and
//            nothing can overflow.
// Reference  [CKS20]; docs/math/exact-noise.md.
#pragma once

#include <cstdint>

#include "sotto/core/rng.hpp"

namespace sotto {

// 0 ≤ p ≤ q, q ≥ 1; else InvalidArgument.
bool bernoulli(Rng& rng, std::uint64_t p, std::uint64_t q);
bool bernoulli_128(Rng& rng, uint128 p, uint128 q);

// denominator ≥ 1.
bool bernoulli_exp(Rng& rng, uint128 numerator, uint128 denominator);

// x ≥ 0; infinity is allowed and always false. NaN and negative numbers are refused.
bool bernoulli_exp(Rng& rng, double x);

}  // namespace sotto
