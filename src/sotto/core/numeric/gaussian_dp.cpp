#include "sotto/core/numeric/gaussian_dp.hpp"

#include <cmath>

#include "sotto/core/numeric/mills.hpp"
#include "sotto/core/numeric/outward.hpp"
#include "sotto/core/numeric/search.hpp"

namespace sotto {
namespace {

void check(double mu, double epsilon) {
  if (!(mu >= 0) || !std::isfinite(mu)) {
    throw AccountingError(
        fmt::format("the Gaussian parameter mu is {}; it must be finite and 0 or more", mu),
        "the noise is so small that nothing is bounded");
  }
  if (!(epsilon >= 0))
    throw InvalidArgument(fmt::format("epsilon is {}; it must be 0 or more", epsilon));
}

// How far ln δ may be off: φ(u) is a square of a rounded number in an exponent.
double log_error(double mu, double epsilon) {
  const double u = epsilon / mu - mu / 2;
  return (64 + 8 * (u * u + epsilon + mu * mu)) * kUlp;
}

}  // namespace

double gaussian_log_delta(double mu, double epsilon) {
  check(mu, epsilon);
  if (mu == 0) return -kInfinity;
  const double u = epsilon / mu - mu / 2;
  if (!std::isfinite(u)) return -kInfinity;
  if (u < -1) {  // μ > 2 and δ close to 1: SF(u) − e^ε SF(u+μ) = SF(u) − φ(u)R(u+μ)
    return std::log(normal_sf(u) - std::exp(log_normal_pdf(u)) * mills_ratio(u + mu));
  }
  return log_normal_pdf(u) + std::log(mills_difference(u, mu));
}

double gaussian_delta_upper(double mu, double epsilon) {
  const double log_delta = gaussian_log_delta(mu, epsilon);
  if (mu == 0) return 0;
  return std::min(1.0, next_up(std::exp(log_delta + log_error(mu, epsilon))));
}

double gaussian_delta_lower(double mu, double epsilon) {
  const double log_delta = gaussian_log_delta(mu, epsilon);
  if (mu == 0) return 0;
  return std::max(0.0, next_down(std::exp(log_delta - log_error(mu, epsilon))));
}

namespace {

Bracket epsilon_bracket(double mu, Delta delta, double shift) {
  const double target = std::log(delta.value());
  const auto excess = [&](double e) {
    return gaussian_log_delta(mu, e) + (mu == 0 ? 0 : shift * log_error(mu, e)) - target;
  };
  if (mu == 0 || excess(0) <= 0) return {0, 0};
  double high = mu * mu / 2 + mu * std::sqrt(-2 * target);
  while (excess(high) > 0) high = 2 * high + mu;
  return narrow(excess, 0, high, 4e-16);
}

}  // namespace

double gaussian_epsilon_upper(double mu, Delta delta) {
  check(mu, 0);
  const Bracket b = epsilon_bracket(mu, delta, 1);
  return b.high == 0 ? 0 : next_up(b.high);
}

double gaussian_epsilon_lower(double mu, Delta delta) {
  check(mu, 0);
  return epsilon_bracket(mu, delta, -1).low;
}

double gaussian_mu(Epsilon epsilon, Delta delta) {
  const double target = std::log(delta.value());
  const auto room = [&](double mu) {
    return target - gaussian_log_delta(mu, epsilon.value()) - log_error(mu, epsilon.value());
  };
  double low = 1, high = 1;
  while (room(low) <= 0) low /= 2;
  while (room(high) > 0) high *= 2;
  return narrow(room, low, high, 4e-16).low;
}

double gaussian_sigma(Epsilon epsilon, Delta delta, double sensitivity) {
  return widen_up(sensitivity / gaussian_mu(epsilon, delta), 2 * kUlp);
}

double gaussian_tradeoff(double mu, double false_positive_rate) {
  check(mu, 0);
  const Probability a(false_positive_rate);
  if (a.value() == 0) return 1;
  if (a.value() == 1) return 0;
  return normal_sf(mu - normal_quantile_upper(std::log(a.value())));
}

double compose_mu(std::span<const double> mus) {
  double sum = 0;
  for (double mu : mus) sum = add_up(sum, multiply_up(mu, mu));
  return sum == 0 ? 0 : next_up(std::sqrt(sum));
}

double group_mu(double mu, std::uint64_t group_size) {
  return multiply_up(mu, static_cast<double>(group_size));
}

double pure_to_mu(double epsilon) {
  if (epsilon == 0) return 0;
  // Φ(−μ/2) = 1/(1 + e^ε).
  const double log_tail = -(epsilon + std::log1p(std::exp(-epsilon)));
  return widen_up(2 * normal_quantile_upper(log_tail), 1e-12) + 1e-14;
}

}  // namespace sotto
