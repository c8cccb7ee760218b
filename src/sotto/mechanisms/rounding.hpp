// Detail: Arithmetic that errs on a chosen side.
//
// A basic operation of IEEE arithmetic is off by at most half a unit in the last place, so the next double above (below) the
// result is an upper (lower) bound of the true value. Used wherever a sensitivity, a scale or an ε must not come out too small.
#pragma once

#include <cmath>
#include <limits>

namespace sotto::detail {

inline double up(double x) { return std::nextafter(x, std::numeric_limits<double>::infinity()); }
inline double down(double x) { return std::nextafter(x, -std::numeric_limits<double>::infinity()); }

inline double add_up(double a, double b) { return up(a + b); }
inline double multiply_up(double a, double b) { return up(a * b); }
inline double multiply_down(double a, double b) { return down(a * b); }
inline double divide_up(double a, double b) { return up(a / b); }
inline double divide_down(double a, double b) { return down(a / b); }
inline double sqrt_up(double a) { return up(std::sqrt(a)); }
inline double sqrt_down(double a) { return down(std::sqrt(a)); }

// √(a² + b²) from above.
inline double hypot_up(double a, double b) {
  return sqrt_up(add_up(multiply_up(a, a), multiply_up(b, b)));
}

}  // namespace sotto::detail
