// Outward rounding: the last step of every bound, after the error of what came before has been counted.
#pragma once

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

// Sum and product rounded up, for numbers that are 0 or more; exact zeros stay zero.
inline double add_up(double a, double b) {
  if (a == 0) return b;
  if (b == 0) return a;
  return next_up(a + b);
}
inline double multiply_up(double a, double b) { return a == 0 || b == 0 ? 0 : next_up(a * b); }

}  // namespace sotto
