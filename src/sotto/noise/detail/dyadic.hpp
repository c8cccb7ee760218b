// A positive double as the fraction it exactly is: numerator / 2^shift.
//
// Samplers take their scale as the double it is, not as a decimal near it. In lowest terms products
// stay small: the numerator has at most 53 bits, or is an integer below 2^63 with shift 0.
#pragma once

#include <cmath>
#include <cstdint>

namespace sotto::detail {

struct Dyadic {
  std::uint64_t numerator;
  int shift;  // ≥ 0
};

// value finite, 0 < value < 2^63.
inline Dyadic dyadic(double value) {
  int exponent = 0;
  const double fraction =
      std::frexp(value, &exponent);  // value = fraction·2^exponent, ½ ≤ fraction < 1
  auto numerator = static_cast<std::uint64_t>(std::ldexp(fraction, 53));  // exact: 53 bits
  int shift = 53 - exponent;
  while (shift > 0 && (numerator & 1) == 0) numerator >>= 1, --shift;
  if (shift < 0) numerator <<= -shift, shift = 0;
  return {numerator, shift};
}

}  // namespace sotto::detail
