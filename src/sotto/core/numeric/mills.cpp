#include "sotto/core/numeric/mills.hpp"

#include <cmath>
#include <numbers>

#include "sotto/core/numeric/search.hpp"

namespace sotto {
namespace {

constexpr double kSwitch = 2;

// c(x) = 1/(x + 2/(x + 3/(x + …))), so that R = 1/(x + c).
double fraction_tail(double x) {
  const int terms = 24 + static_cast<int>(400 / (x * x));
  double c = 0;
  for (int k = terms; k >= 1; --k) c = k / (x + c);
  return c;
}

// −R'(x) = 1 − xR(x) > 0.
double mills_slope(double x) {
  if (x < kSwitch) return 1 - x * mills_ratio(x);
  const double c = fraction_tail(x);
  return c / (x + c);
}

}  // namespace

double log_normal_pdf(double x) { return -0.5 * x * x - 0.5 * std::log(2 * std::numbers::pi); }

double mills_ratio(double x) {
  if (x < kSwitch) {
    return std::sqrt(std::numbers::pi / 2) * std::exp(0.5 * x * x) *
           std::erfc(x * std::numbers::sqrt2 / 2);
  }
  return 1 / (x + fraction_tail(x));
}

double mills_difference(double x, double h) {
  if (h > 0.3) return mills_ratio(x) - mills_ratio(x + h);
  const GaussLegendre& rule = gauss_legendre();
  double sum = 0;
  for (int i = 0; i < 12; ++i)
    sum += rule.weight[i] * mills_slope(x + 0.5 * h * (1 + rule.node[i]));
  return 0.5 * h * sum;
}

double normal_sf(double x) { return 0.5 * std::erfc(x * std::numbers::sqrt2 / 2); }

double log_normal_sf(double x) {
  if (x >= kSwitch) return log_normal_pdf(x) - std::log(x + fraction_tail(x));
  if (x > -kSwitch) return std::log(normal_sf(x));
  return std::log1p(-normal_sf(-x));
}

double normal_quantile_upper(double log_probability) {
  double low = -8, high = 8;
  while (log_normal_sf(low) < log_probability && low > -38) low -= 8;
  while (log_normal_sf(high) > log_probability) high *= 2;
  const Bracket b =
      narrow([&](double x) { return log_normal_sf(x) - log_probability; }, low, high, 1e-16);
  return 0.5 * (b.low + b.high);
}

}  // namespace sotto
