// Detail: arithmetic that errs on a chosen side.
//
// A basic operation of IEEE arithmetic is off by at most half a unit in the last place, and a fused
// multiply-add tells on which side.
// Exact results stay as they are (ε = 0.5 for sensitivity 1 gives scale 2); others move to the next
// double on the safe side.
// Near the ends of the range, where the error itself could underflow, results move in any case.
// Positive operands only, as sensitivities, scales and budgets are.
#pragma once

#include <cmath>
#include <limits>

namespace sotto::detail {

inline double up(double x) { return std::nextafter(x, std::numeric_limits<double>::infinity()); }
inline double down(double x) { return std::nextafter(x, -std::numeric_limits<double>::infinity()); }

// error: a number with the sign of (result − truth), trustworthy when the operands are in the
// middle of the range.
inline bool trusted(double a, double b) {
  return a > 0x1p-400 && a < 0x1p400 && b > 0x1p-400 && b < 0x1p400;
}
inline double raise(double result, double error, bool trust) {
  return trust && error >= 0 ? result : up(result);
}
inline double lower(double result, double error, bool trust) {
  return trust && error <= 0 ? result : down(result);
}

inline double sum_error(double a, double b, double s) {  // s − (a + b), exactly
  const double part = s - a;
  return (part - b) - (a - (s - part));
}
inline double product_error(double a, double b, double p) { return -std::fma(a, b, -p); }
inline double quotient_error(double a, double b, double q) { return std::fma(q, b, -a); }
inline double root_error(double a, double r) { return std::fma(r, r, -a); }

inline double add_up(double a, double b) {
  return raise(a + b, sum_error(a, b, a + b), trusted(a, b));
}
inline double multiply_up(double a, double b) {
  return raise(a * b, product_error(a, b, a * b), trusted(a, b));
}
inline double multiply_down(double a, double b) {
  return lower(a * b, product_error(a, b, a * b), trusted(a, b));
}
inline double divide_up(double a, double b) {
  return raise(a / b, quotient_error(a, b, a / b), trusted(a, b));
}
inline double divide_down(double a, double b) {
  return lower(a / b, quotient_error(a, b, a / b), trusted(a, b));
}
inline double sqrt_up(double a) {
  return raise(std::sqrt(a), root_error(a, std::sqrt(a)), trusted(a, 1));
}
inline double sqrt_down(double a) {
  return lower(std::sqrt(a), root_error(a, std::sqrt(a)), trusted(a, 1));
}

// √(a² + b²) from above.
inline double hypot_up(double a, double b) {
  return sqrt_up(add_up(multiply_up(a, a), multiply_up(b, b)));
}

}  // namespace sotto::detail
