#include "sotto/mechanisms/gaussian_calibration.hpp"

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>

#include "sotto/mechanisms/detail/rounding.hpp"

namespace sotto {
namespace {

constexpr double kLogMargin = 1e-11;  // how far the computed ln δ may be off

// ∫₀^∞ exp(−at − t²/2)·factor(t) dt for a ≥ −1 and an increasing factor in [0, 1] that bends on the scale `first` or slower, on
// panels short against every length scale of the integrand.
template <class Factor>
double tail_integral(double a, double first, const Factor& factor) {
  // at + t²/2 = 60 at `end`: what is cut off is below 1e-20 of the whole.
  const double end = 120 / (a + std::sqrt(a * a + 120));
  const double panel = end / 24;
  auto integrand = [&](double t) { return std::exp(-(a + t / 2) * t) * factor(t); };
  double total = 0, left = 0, step = std::min(panel, first);
  while (left < end) {
    const double right = std::min(end, left + step);
    total += boost::math::quadrature::gauss<double, 20>::integrate(integrand, left, right);
    left = right;
    step = std::min(panel, 2 * step);
  }
  return total;
}

double log_density(double x) {
  constexpr double kHalfLogTwoPi = 0.91893853320467274178;
  return -x * x / 2 - kHalfLogTwoPi;
}

}  // namespace

double log_gaussian_delta(double mu, double epsilon) {
  const double a = epsilon / mu - mu / 2;
  if (a < -1) {
    // Then μ > 2 and b > 1: δ is of the order of one and the two terms do not cancel.
    const double mills = tail_integral(a + mu, 1, [](double) { return 1.0; });
    return std::log(std::erfc(a / std::sqrt(2.0)) / 2 - std::exp(log_density(a)) * mills);
  }
  const double difference =
      tail_integral(a, 1 / mu, [mu](double t) { return -std::expm1(-mu * t); });
  return log_density(a) + std::log(difference);
}

double analytic_gaussian_sigma(Epsilon epsilon, Delta delta) {
  const double target = std::log(delta.value()) - kLogMargin;
  auto enough = [&](double sigma) {
    return log_gaussian_delta(1 / sigma, epsilon.value()) <= target;
  };
  double low = 1, high = 1;
  while (!enough(high)) high *= 2;
  if (high == 1) {
    while (enough(low)) low /= 2;
  } else {
    low = high / 2;
  }
  // δ(σ) falls strictly with σ; `high` is always enough.
  while (high - low > 4e-16 * high) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    (enough(middle) ? high : low) = middle;
  }
  return detail::up(high);
}

double classic_gaussian_sigma(Epsilon epsilon, Delta delta) {
  if (!(epsilon.value() < 1)) {
    throw InvalidArgument(
        fmt::format(
            "epsilon is {}; the classic Gaussian calibration is proven for epsilon < 1 only",
            epsilon.value()),
        "use the analytic calibration, which is tighter and has no such limit");
  }
  const double logarithm = detail::up(detail::up(std::log(detail::divide_up(1.25, delta.value()))));
  return detail::divide_up(detail::sqrt_up(detail::multiply_up(2, logarithm)), epsilon.value());
}

}  // namespace sotto
