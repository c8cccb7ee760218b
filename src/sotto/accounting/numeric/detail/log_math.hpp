// Small functions in log space that do not overflow, underflow or cancel.
#pragma once

#include <cstdint>

namespace sotto {

double log_add_exp(double a, double b);  // ln(e^a + e^b); −∞ is an empty sum
double log_expm1(double x);              // ln(e^x − 1), x > 0
double log1m_exp(double x);              // ln(1 − e^x), x < 0
double log_gamma(double x);              // ln Γ(x), x > 0; thread-safe

// ln C(n, k) for one n and many k: logarithms of factorials up to 1e5 are kept.
class LogChoice {
 public:
  explicit LogChoice(std::uint64_t n);
  double operator()(std::uint64_t k) const;

 private:
  std::uint64_t n_;
  double top_;
};

// ln P[Binomial(n, p) = k] by the saddle-point expansion of Loader: a relative error of the
// probability of about 1e-14 even for n = 1e15, where differences of ln Γ have lost every digit.
double log_binomial_pmf(std::uint64_t n, std::uint64_t k, double p, double one_minus_p);

// e^(a·y) − 1 − a(e^y − 1): the excess of a power over its tangent at 1, 0 or more for a ≥ 1 and
// for a ≤ 0.
// Moments of a likelihood ratio minus 1 are sums of it with positive weights, so nothing cancels.
double power_excess(double a, double y);

// ln(Σ e^x_i), streaming.
class LogSum {
 public:
  void add(double x);
  double log() const;

 private:
  double max_ = -1e308, sum_ = 0;
};

}  // namespace sotto
