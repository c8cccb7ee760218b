// Uniform integers below a bound, exactly.
//
// What       uniform_below(rng, n) is each of 0 … n−1 with probability exactly 1/n.
// Guarantee  Exact for uniform input words. The number of words used depends on the words, never on
//            data.
// Method     64 bits: the high half of word·n, redrawn in the few cases that would favour some
//            results [Lem19].
//            128 bits: enough random bits, redrawn until below n (at most two tries in
//            expectation).
// Numerics   Integers only; 64×64→128-bit products do not overflow.
// Reference  [Lem19].
#pragma once

#include <cstdint>

#include "sotto/core/rng.hpp"

namespace sotto {

// n ≥ 1.
inline std::uint64_t uniform_below(Rng& rng, std::uint64_t n) {
  uint128 product = static_cast<uint128>(rng.next_u64()) * n;
  if (static_cast<std::uint64_t>(product) < n) [[unlikely]] {
    const std::uint64_t excess = (0 - n) % n;  // 2^64 mod n: so many low halves must go
    while (static_cast<std::uint64_t>(product) < excess)
      product = static_cast<uint128>(rng.next_u64()) * n;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

uint128 uniform_below_128(Rng& rng, uint128 n);

}  // namespace sotto
