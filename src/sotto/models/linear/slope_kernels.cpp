#include "sotto/models/linear/detail/slope_kernels.hpp"

#include <bit>
#include <cmath>
#include <cstdint>

#include "sotto/core/vector_clones.hpp"

namespace sotto::detail {
namespace {

// exp(−x) for 0 ≤ x ≤ 700: 2^k·exp(r) with |r| ≤ ln(2)/2 and the series of exp to degree 12.
[[gnu::always_inline]] inline double decay(double x) {
  constexpr double kShift =
      0x1.8p52;  // added to a number, it leaves its nearest integer in the low bits
  constexpr double kHigh = 0x1.62e42fefa3800p-1,
                   kLow = 0x1.ef35793c76730p-45;  // ln(2), in two parts
  const double shifted = -x * 0x1.71547652b82fep0 + kShift, k = shifted - kShift;
  const double r = (-x - k * kHigh) - k * kLow;
  double sum = 1.0 / 479001600;
  sum = sum * r + 1.0 / 39916800;
  sum = sum * r + 1.0 / 3628800;
  sum = sum * r + 1.0 / 362880;
  sum = sum * r + 1.0 / 40320;
  sum = sum * r + 1.0 / 5040;
  sum = sum * r + 1.0 / 720;
  sum = sum * r + 1.0 / 120;
  sum = sum * r + 1.0 / 24;
  sum = sum * r + 1.0 / 6;
  sum = sum * r + 0.5;
  sum = sum * r + 1;
  sum = sum * r + 1;
  const std::uint64_t power = (std::bit_cast<std::uint64_t>(shifted) + 1023) << 52;
  return sum * std::bit_cast<double>(power);
}

}  // namespace

SOTTO_CLONES void logistic_slopes(const double* margins, const float* targets, std::size_t count,
                                  double* __restrict slopes) {
  // In two loops and without a choice between values, else the compiler makes branches of it.
  for (std::size_t i = 0; i < count; ++i) {
    const double size = std::fabs(static_cast<double>(targets[i]) * margins[i]);
    slopes[i] = size < 700 ? size : 700;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const auto y = static_cast<double>(targets[i]);
    const double half = 1 / (1 + decay(slopes[i])) - 0.5;
    slopes[i] = -y * (0.5 - std::copysign(half, y * margins[i]));
  }
}

SOTTO_CLONES void bound_slopes(double* slopes, std::size_t count, double norm, int bits) {
  const double units =
      std::ldexp(1.0, bits);  // norm·units is exact, and no truncated slope exceeds it
  for (std::size_t i = 0; i < count; ++i) {
    const double s = slopes[i];
    const double finite = s - s == 0 ? s : 0;
    const double low = finite < norm ? finite : norm;
    const double clipped = low > -norm ? low : -norm;
    slopes[i] = static_cast<double>(static_cast<std::int32_t>(clipped * units));
  }
}

}  // namespace sotto::detail
