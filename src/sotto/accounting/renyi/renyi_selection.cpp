#include "sotto/accounting/renyi/detail/renyi_selection.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/accounting/numeric/detail/log_math.hpp"
#include "sotto/core/numeric/outward.hpp"
#include "sotto/core/numeric/search.hpp"

namespace sotto {

double truncated_negative_binomial_mean(double shape, double gamma) {
  const double log_gamma = std::log(gamma);
  // Below, products with the shape would leave the normal numbers; the law is the logarithmic one
  // to all digits long before.
  if (shape < 1e-100) return (1 / gamma - 1) / -log_gamma;
  return shape * (1 - gamma) / (gamma * -std::expm1(shape * log_gamma));
}

double truncated_negative_binomial_gamma(double shape, double mean) {
  // The mean falls from ∞ to 1 as γ goes from 0 to 1.
  const auto excess = [&](double x) {
    return std::log(truncated_negative_binomial_mean(shape, std::exp(-x)) / mean);
  };
  double high = 1;
  while (excess(high) <= 0) high *= 2;
  const Bracket b = narrow([&](double y) { return -excess(y); }, 1e-12, high, 1e-14);
  return widen_down(std::exp(-b.high), 1e-12);
}

RenyiBound renyi_selection_negative_binomial(RenyiBound base, double shape, double mean,
                                             double largest_order) {
  if (mean == 1) return base;  // exactly one run
  const double cost = -std::log(truncated_negative_binomial_gamma(shape, mean));
  const OrderChoice best =
      best_order([&](double b) { return widen_up((1 - 1 / b) * base(b) + cost / b, 8 * kUlp); },
                 largest_order);
  const double fixed = (1 + shape) * best.value, log_mean = std::log(mean);
  return [base = std::move(base), fixed, log_mean](double order) {
    return widen_up(base(order) + fixed + log_mean / (order - 1), 16 * kUlp);
  };
}

RenyiBound renyi_selection_poisson(RenyiBound base, std::function<double(double)> delta_of,
                                   double mean) {
  return [base = std::move(base), delta_of = std::move(delta_of), mean](double order) {
    const double a = order - 1, r = base(order);
    if (!std::isfinite(r)) return kInfinity;
    const double epsilon = widen_down(std::log1p(1 / a), 4 * kUlp);
    // The best run, or none at all.
    const double some = a * (r + mean * delta_of(epsilon)) + std::log(mean);
    const double best = (log_add_exp(-mean, some) + 8 * kUlp * (1 + mean + std::abs(some))) / a;
    // Every run released: Σ_k P[K = k]·e^(k(α−1)r).
    const double all = mean * std::expm1(a * r) / a;
    return widen_up(std::min(best, all), 16 * kUlp);
  };
}

}  // namespace sotto
