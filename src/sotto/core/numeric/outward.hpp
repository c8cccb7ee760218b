// Outward rounding: the last step of every bound, after the error of what came before has been
// counted.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace sotto {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kUlp =
    0x1p-53;  // unit round-off: one correctly rounded operation errs by at most this fraction

inline double next_up(double x) { return std::nextafter(x, kInfinity); }
inline double next_down(double x) { return std::nextafter(x, -kInfinity); }

// A number above (below) every value that differs from x by at most the stated fraction of |x|.
inline double widen_up(double x, double relative) { return next_up(x + std::abs(x) * relative); }
inline double widen_down(double x, double relative) {
  return next_down(x - std::abs(x) * relative);
}

// Sum and product of numbers that are 0 or more, rounded up; what is exact stays as it is.
inline double add_up(double a, double b) {
  const double sum = a + b, big = std::max(a, b), small = std::min(a, b);
  return small - (sum - big) > 0 || std::isnan(small - (sum - big)) ? next_up(sum) : sum;
}
inline double multiply_up(double a, double b) {
  const double product = a * b;
  if (a == 0 || b == 0) return 0;
  // The residue is exact unless it underflows.
  return product < 1e-280 || std::fma(a, b, -product) > 0 ? next_up(product) : product;
}

}  // namespace sotto
