#include "sotto/pate/vote_renyi.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/core/numeric/mills.hpp"
#include "sotto/core/numeric/outward.hpp"
#include "sotto/core/numeric/search.hpp"

namespace sotto::pate {
namespace {

constexpr double kCurveSlack = 1e-12;

double log_add(double a, double b) {
  const double high = std::max(a, b), low = std::min(a, b);
  return low == -kInfinity ? high : high + std::log1p(std::exp(low - high));
}

void check_order(double order) {
  if (!(order > 1) || !std::isfinite(order))
    throw InvalidArgument("the order of a Rényi divergence must be above 1");
}

template <class Tail>
double log_q(std::span<const std::int64_t> counts, const Tail& tail) {
  if (counts.size() < 2) throw InvalidArgument("a vote needs two classes or more");
  std::vector<std::int64_t> sorted(counts.begin(), counts.end());
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  // From the smallest term to the largest: the same gaps give the same bits.
  double sum = -kInfinity;
  for (std::size_t j = sorted.size() - 1; j >= 1; --j)
    sum = log_add(sum, tail(static_cast<double>(sorted[0] - sorted[j])));
  const double classes = static_cast<double>(counts.size());
  return std::min(sum, std::log1p(-1 / classes));
}

// The bound of the theorem, without its conditions.
double gnmax_dependent(double log_q, double sigma, double order) {
  const double variance = sigma * sigma;
  const double mu2 = sigma * std::sqrt(-log_q), mu1 = mu2 + 1;
  const double e1 = mu1 / variance, e2 = mu2 / variance;
  const double log_not = log_one_minus_exp(log_q);
  const double log_a = log_not - log_one_minus_exp((log_q + e2) * (1 - 1 / mu2));
  const double log_b = e1 - log_q / (mu1 - 1);
  return log_add(log_not + (order - 1) * log_a, log_q + (order - 1) * log_b) / (order - 1);
}

}  // namespace

double log_one_minus_exp(double x) {
  return x > -0.6931471805599453 ? std::log(-std::expm1(x)) : std::log1p(-std::exp(x));
}

double log_tail_gaussian(double gap, double sigma, double granularity) {
  return log_normal_sf((gap - granularity) / (std::sqrt(2.0) * sigma));
}

double log_tail_laplace(double gap, double scale, double granularity) {
  if (granularity <= 0) {
    const double x = gap / scale;
    return x < 0 ? 0 : std::log((2 + x) / 4) - x;
  }
  // Two discrete Laplace variables differ by K ≥ 0 steps or more with probability
  // p^K/(1+p)²·[(K + (1+p²)/(1−p²))(1−p) + p], p = e^{−granularity/scale}.
  const double steps = std::floor(gap / granularity);
  if (steps < 0) return 0;
  const double h = granularity / scale, p = std::exp(-h), rest = -std::expm1(-h);
  return -steps * h - 2 * std::log1p(p) + std::log(steps * rest + (1 + p * p) / (1 + p) + p);
}

double log_q_gaussian(std::span<const std::int64_t> counts, double sigma, double granularity) {
  return log_q(counts, [&](double gap) { return log_tail_gaussian(gap, sigma, granularity); });
}

double log_q_laplace(std::span<const std::int64_t> counts, double scale, double granularity) {
  return log_q(counts, [&](double gap) { return log_tail_laplace(gap, scale, granularity); });
}

bool gnmax_bound_holds(double log_q, double sigma, double order) {
  if (!(log_q < 0)) return false;
  if (log_q == -kInfinity) return true;
  const double mu2 = sigma * std::sqrt(-log_q), mu1 = mu2 + 1, e2 = mu2 / (sigma * sigma);
  if (!(order < mu1) || !(mu2 > 1) || !(-log_q > e2)) return false;
  return log_q <= (mu2 - 1) * e2 - mu2 * std::log(mu1 / (mu1 - 1) * mu2 / (mu2 - 1));
}

double gnmax_renyi(double log_q, double sigma, double order) {
  check_order(order);
  const double independent = widen_up(order / (sigma * sigma), 4 * kUlp);
  if (!gnmax_bound_holds(log_q, sigma, order)) return independent;
  if (log_q == -kInfinity) return 0;
  const double dependent =
      widen_up(std::max(0.0, gnmax_dependent(log_q, sigma, order)), kCurveSlack);
  return std::min(independent, dependent);
}

double lnmax_renyi(double log_q, double scale, double order) {
  check_order(order);
  const double e0 = 2 / scale;
  const double independent = widen_up(std::min(order * e0 * e0 / 2, e0), 8 * kUlp);
  if (log_q > -std::log1p(std::exp(e0))) return independent;
  if (log_q == -kInfinity) return 0;
  const double log_not = log_one_minus_exp(log_q);
  const double log_a = log_not - log_one_minus_exp(e0 + log_q);
  const double dependent =
      log_add(log_not + (order - 1) * log_a, log_q + e0 * (order - 1)) / (order - 1);
  return std::min(independent, widen_up(std::max(0.0, dependent), kCurveSlack));
}

double threshold_renyi(double log_probability, double sigma, double order) {
  const double other = log_probability < 0 ? log_one_minus_exp(log_probability) : -kInfinity;
  return gnmax_renyi(std::min(log_probability, other), std::sqrt(2.0) * sigma, order);
}

double gnmax_log_q0(double sigma, double order) {
  check_order(order);
  const double start = std::min(
      {-std::pow(1 + 1 / sigma, 2), -std::pow((order - .99) / sigma, 2), -1 / (sigma * sigma)});
  const double independent = order / (sigma * sigma);
  const auto excess = [&](double log_q) {
    return gnmax_dependent(log_q, sigma, order) - independent;
  };
  if (!(excess(start) > 0)) return start;
  double low = 2 * start;
  while (excess(low) > 0) {
    low *= 1.5;
    if (low < -1e8) return low;  // never better, as far as matters
  }
  // narrow() wants the positive end first.
  const Bracket b = narrow([&](double x) { return excess(-x); }, -start, -low, 1e-14);
  return -b.high;
}

double epsilon_of_renyi(double renyi, double order, double delta, Conversion conversion) {
  check_order(order);
  if (!(delta > 0 && delta < 1)) throw InvalidArgument("delta must be above 0 and below 1");
  const double plain = -std::log(delta) / (order - 1);
  const double extra = conversion == Conversion::paper
                           ? plain
                           : plain - std::log(order) / (order - 1) + std::log1p(-1 / order);
  return std::max(0.0, renyi + widen_up(extra, kCurveSlack));
}

}  // namespace sotto::pate
