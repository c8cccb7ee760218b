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

namespace {

// ln of the mean where γ = e^(−x), x > 0. Its slope is ½ or more, and its error a few ulps even
// where it is next to 0: nothing is subtracted.
double log_mean_at(double shape, double x) {
  const double odds = std::expm1(x);  // (1 − γ)/γ
  return std::log(shape < 1e-100 ? odds / x : shape * odds / -std::expm1(-shape * x));
}

}  // namespace

double truncated_negative_binomial_cost(double shape, double mean) {
  if (!(mean > 1)) return 0;
  // The mean grows from 1 to ∞ with x.
  const double target = std::log(mean);
  double high = 1;
  while (log_mean_at(shape, high) <= target) high *= 2;
  const auto missing = [&](double x) { return target - (x > 0 ? log_mean_at(shape, x) : 0); };
  const Bracket b = narrow(missing, 0, high, 1e-13);
  constexpr double kSteps = 64;  // ulps of both logarithms; relative to ln mean where that is large
  return widen_up(b.high, 1e-12) + kSteps * kUlp * (1 + target);
}

double truncated_negative_binomial_gamma(double shape, double mean) {
  return widen_down(std::exp(-truncated_negative_binomial_cost(shape, mean)), 4 * kUlp);
}

RenyiBound renyi_selection_negative_binomial(RenyiBound base, double shape, double mean,
                                             double largest_order) {
  if (mean == 1) return base;  // exactly one run
  const double cost = truncated_negative_binomial_cost(shape, mean);
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
