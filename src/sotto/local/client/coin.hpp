// Coins of exactly known bias, in steps of 2^-64, one at a time or 64 at a time.
//
// What       flip: true with probability t/2^64. biased_word: 64 such coins in one word. To choose
//            t: dyadic_below and dyadic_above of a wanted probability.
// Guarantee  Exact for uniform input words. How many words are used depends on them, never on data.
// Method     U < t/2^64 for a uniform real U. For 64 coins at once, U and t are compared bit by bit
//            from the top, all coins together, until every coin has met a bit that differs: about 8
//            words for 64 coins.
// Numerics   Integers decide. log_ratio_up is an upper bound of ln(a/b): the rounding of the
//            quotient and of the logarithm, below 2^-58 together, is added.
// Reference  docs/math/local-privacy.md.
#pragma once

#include <cstdint>

#include "sotto/core/rng.hpp"

namespace sotto::local {

// t/2^64 is at most (at least) p and within 2^-60 of it, relatively. 0 < p < 1.
std::uint64_t dyadic_below(long double p);
std::uint64_t dyadic_above(long double p);

// t/2^64 ≥ part/(part + rest), and the complement is as exact, relatively, however small it is.
std::uint64_t dyadic_share_above(long double part, long double rest);

inline long double dyadic(std::uint64_t t) { return static_cast<long double>(t) * 0x1p-64L; }
inline long double dyadic_rest(std::uint64_t t) {  // of 1; t ≥ 1
  return static_cast<long double>(0 - t) * 0x1p-64L;
}

inline bool flip(Rng& rng, std::uint64_t t) { return rng.next_u64() < t; }
std::uint64_t biased_word(Rng& rng, std::uint64_t t);

// An upper bound of ln(a/b) for a ≥ b > 0 that are products of a few numbers without error.
double log_ratio_up(long double a, long double b);

// Probabilities are chosen for an ε that is smaller by 2^-50 of itself, so that what is rounded up
// again stays within the ε that was declared. Throws InvalidArgument unless 1e-4 ≤ ε ≤ 30.
long double inner_epsilon(double epsilon);

}  // namespace sotto::local
