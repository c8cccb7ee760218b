// Compares a uniform random real with r·exp(−x), exactly, drawing as many bits of it as the answer
// needs.
//
// What       below_exp_threshold(rng, first, t): whether U < t, where U is uniform on [0, 1) and
//            `first` are its first 64 bits.
// Guarantee  Exact: the answer is the truth about the real U whose later bits are drawn on demand.
//            Ends with probability 1.
// Method     U < (p/q)·2^s·exp(−x) is the same as U·q·e^x < p·2^s. All terms of the series of e^x
//            are positive, so rounding every step down or up gives a lower and an upper bound;
//            while p·2^s lies between them, 64 more bits are drawn.
// Numerics   Multi-word integers; x is a quotient of products of 64-bit numbers, so each step is a
//            few word-sized multiplications and divisions. Slow (microseconds) and rarely needed:
//            samplers decide by 51 bits first.
// Reference  docs/math/exact-noise.md.
#pragma once

#include <array>
#include <cstdint>

#include "sotto/core/rng.hpp"

namespace sotto::detail {

// (p/q)·2^s·exp(−x), x = (a₀·a₁)/(b₀·b₁) < 2^62; a₀·a₁ and b₀·b₁ fit 128 bits; p, q, b ≥ 1, s ≥ 0.
struct ExpThreshold {
  std::uint64_t p = 1, q = 1;
  unsigned s = 0;
  std::array<std::uint64_t, 2> a{0, 1}, b{1, 1};
};

bool below_exp_threshold(Rng& rng, std::uint64_t first, const ExpThreshold& threshold);

}  // namespace sotto::detail
