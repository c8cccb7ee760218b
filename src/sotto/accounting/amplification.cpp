#include "sotto/accounting/amplification.hpp"

#include <cmath>

#include "sotto/accounting/log_math.hpp"
#include "sotto/accounting/outward.hpp"

namespace sotto {

double amplified_epsilon(double e, double rate) {
  if (rate == 1 || e == 0 || !std::isfinite(e)) return e;
  const double value =
      e < 30 ? std::log1p(rate * std::expm1(e)) : e + std::log(rate + (1 - rate) * std::exp(-e));
  return std::min(e, widen_up(value, 16 * kUlp));
}

ApproximateDp amplify_poisson(const ApproximateDp& base, double rate) {
  return {amplified_epsilon(base.epsilon, rate),
          rate == 1 ? base.delta : multiply_up(rate, base.delta), base.count};
}

ApproximateDp amplify_fixed_size(const ApproximateDp& base, double rate) {
  return amplify_poisson(base, rate);
}

ApproximateDp amplify_with_replacement(
    double base_epsilon, const std::function<double(std::uint64_t, double)>& group_delta,
    std::uint64_t draws, std::uint64_t population) {
  const double p = 1 / static_cast<double>(population);
  const double hit =
      population == 1
          ? 1
          : std::min(1.0,
                     widen_up(-std::expm1(static_cast<double>(draws) * std::log1p(-p)), 8 * kUlp));
  double delta = 0, seen = std::exp(log_binomial_pmf(draws, 0, p, 1 - p)), mass = seen;
  for (std::uint64_t k = 1; k <= draws; ++k) {
    mass = std::exp(log_binomial_pmf(draws, k, p, 1 - p));
    delta = add_up(delta, mass * group_delta(k, base_epsilon));
    seen += mass;
    // The rest of the binomial tail falls at least geometrically once k exceeds twice its mean; charge it in full.
    const double ratio = static_cast<double>(draws - k) / static_cast<double>(k + 1) * p / (1 - p);
    if (population > 1 && ratio < 0.5 && mass < 1e-18 * delta) {
      delta = add_up(delta, 2 * mass * ratio);
      break;
    }
  }
  return {amplified_epsilon(base_epsilon, hit), std::min(1.0, widen_up(delta, 1e-12)), 1};
}

}  // namespace sotto
