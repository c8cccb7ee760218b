#include "sotto/accounting/numeric/detail/log_math.hpp"

#include <cmath>
#include <numbers>
#include <vector>

#include "sotto/core/numeric/outward.hpp"

namespace sotto {
namespace {

// ln(n!) − Stirling's approximation of it; exact table for small n, asymptotic series above.
double stirling_error(double n) {
  if (n < 16) {
    return log_gamma(n + 1) - (n + 0.5) * std::log(n) + n - 0.5 * std::log(2 * std::numbers::pi);
  }
  const double s = 1 / (n * n);
  return (1.0 / 12 - s * (1.0 / 360 - s * (1.0 / 1260 - s * (1.0 / 1680 - s / 1188)))) / n;
}

// x ln(x/m) + m − x without cancellation when x is close to m.
double deviance(double x, double m) {
  const double d = x - m;
  if (std::abs(d) < 0.1 * (x + m)) {
    const double v = d / (x + m);
    double s = d * v, term = 2 * x * v;
    for (int j = 1; j < 1000; ++j) {
      term *= v * v;
      const double next = s + term / (2 * j + 1);
      if (next == s) return s;
      s = next;
    }
    return s;
  }
  return x * std::log(x / m) - d;
}

}  // namespace

double log_add_exp(double a, double b) {
  if (a < b) std::swap(a, b);
  if (b == -kInfinity) return a;
  return a + std::log1p(std::exp(b - a));
}

double log_expm1(double x) {
  return x > 36 ? x + std::log1p(-std::exp(-x)) : std::log(std::expm1(x));
}

double log1m_exp(double x) {
  return x > -0.6931471805599453 ? std::log(-std::expm1(x)) : std::log1p(-std::exp(x));
}

double log_gamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

namespace {
constexpr std::uint64_t kFactorials = 100'002;

double log_factorial(std::uint64_t n) {
  static const std::vector<double> table = [] {
    std::vector<double> t(kFactorials);
    for (std::uint64_t i = 0; i < kFactorials; ++i) t[i] = log_gamma(static_cast<double>(i) + 1);
    return t;
  }();
  return n < kFactorials ? table[n] : log_gamma(static_cast<double>(n) + 1);
}
}  // namespace

LogChoice::LogChoice(std::uint64_t n) : n_(n), top_(log_factorial(n)) {}

double LogChoice::operator()(std::uint64_t k) const {
  return top_ - log_factorial(k) - log_factorial(n_ - k);
}

double log_binomial_pmf(std::uint64_t n, std::uint64_t k, double p, double one_minus_p) {
  if (k > n) return -kInfinity;
  if (p <= 0) return k == 0 ? 0 : -kInfinity;
  if (one_minus_p <= 0) return k == n ? 0 : -kInfinity;
  const auto dn = static_cast<double>(n), dk = static_cast<double>(k);
  if (k == 0) return one_minus_p < 0.5 ? dn * std::log(one_minus_p) : dn * std::log1p(-p);
  if (k == n) return p < 0.5 ? dn * std::log(p) : dn * std::log1p(-one_minus_p);
  const double rest = static_cast<double>(n - k);
  const double error = stirling_error(dn) - stirling_error(dk) - stirling_error(rest) -
                       deviance(dk, dn * p) - deviance(rest, dn * one_minus_p);
  return error + 0.5 * std::log(dn / (2 * std::numbers::pi * dk * rest));
}

double power_excess(double a, double y) {
  if (y == 0 || a == 0 || a == 1) return 0;
  const double m = a - 1;
  if (std::abs(y) * std::max(1.0, std::abs(a)) < 0.05) {
    // Σ_{n≥2} yⁿ/n! (aⁿ − a), with aⁿ − a = a·Σ_{j<n−1} aʲ·m exact in the factor m.
    double factor = y, power = 1, geometric = 0, sum = 0;
    for (int n = 2; n < 24; ++n) {
      factor *= y / n;
      geometric += power;  // 1 + a + … + a^(n−2)
      power *= a;
      const double term = factor * a * m * geometric;
      sum += term;
      if (std::abs(term) < 1e-19 * std::abs(sum)) break;
    }
    return sum;
  }
  if (std::abs(a) < 0.5) return std::expm1(a * y) - a * std::expm1(y);
  return std::exp(y) * std::expm1(m * y) - m * std::expm1(y);
}

void LogSum::add(double x) {
  if (x < max_ - 746) return;  // e^−746 is 0 as a double, and slow to find out
  if (x <= max_) {
    sum_ += std::exp(x - max_);
  } else {
    sum_ = sum_ * std::exp(max_ - x) + 1;
    max_ = x;
  }
}

double LogSum::log() const { return sum_ == 0 ? -kInfinity : max_ + std::log(sum_); }

}  // namespace sotto
