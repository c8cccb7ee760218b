// Bounds on numbers in [0, 1] in 64-bit fixed point: integer arithmetic with directed rounding.
//
// An Interval is [lo, hi]/2^63 and always contains the number it stands for. Enough for building a
// table and for deciding nearly every coin; what it cannot decide goes to exp_threshold.hpp.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sotto/core/rng.hpp"

namespace sotto::detail {

inline constexpr std::uint64_t kOne = std::uint64_t{1} << 63;

struct Interval {
  std::uint64_t lo, hi;
};

inline Interval operator*(Interval a, Interval b) {
  const uint128 low = static_cast<uint128>(a.lo) * b.lo, high = static_cast<uint128>(a.hi) * b.hi;
  return {static_cast<std::uint64_t>(low >> 63),
          std::min(kOne, static_cast<std::uint64_t>(high >> 63) + 1)};
}

// Bounds on a non-negative number below 32, in units of 2^-58.
inline constexpr int kExponentBits = 58;

// exp(−x) for x in [lo, hi]/2^58. The error is about 2^-(Terms + log₂ Terms!) · 2^6 and is covered
// by the interval.
// Method: halve x until below ½; 1 − y(1 − y/2(1 − y/3(…))) with the innermost bracket somewhere in
// [0, 1]; square back.
template <unsigned Terms>
Interval exp_minus(std::uint64_t x_lo, std::uint64_t x_hi) {
  if (x_hi >> 63 != 0)
    return {0, kOne >> 46};  // from 32 on (callers: x_lo > 31.9): e^-31.9 < 2^-46
  int halvings = 0;
  while (x_hi >> halvings >= std::uint64_t{1} << (kExponentBits - 1)) ++halvings;
  const uint128 to_one = 32;  // 2^63 / 2^58
  const Interval y{static_cast<std::uint64_t>((to_one * x_lo) >> halvings),
                   static_cast<std::uint64_t>((to_one * x_hi) >> halvings) + 1};
  Interval bracket{0, kOne};
  for (unsigned k = Terms; k >= 1; --k) {
    const Interval inverse{kOne / k, kOne / k + 1};
    const auto down = static_cast<std::uint64_t>((static_cast<uint128>(y.lo) * inverse.lo) >> 63);
    const auto up = static_cast<std::uint64_t>((static_cast<uint128>(y.hi) * inverse.hi) >> 63) + 1;
    const auto lo = static_cast<std::uint64_t>((static_cast<uint128>(down) * bracket.lo) >> 63);
    const auto hi = static_cast<std::uint64_t>((static_cast<uint128>(up) * bracket.hi) >> 63) + 1;
    bracket = {kOne - hi, kOne - lo};  // hi ≤ ½ + a few units
  }
  for (; halvings > 0; --halvings) bracket = bracket * bracket;
  return bracket;
}

}  // namespace sotto::detail
