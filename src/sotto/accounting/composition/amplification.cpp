#include "sotto/accounting/composition/amplification.hpp"

#include <cmath>

#include "sotto/accounting/numeric/detail/log_math.hpp"
#include "sotto/core/numeric/outward.hpp"

namespace sotto {
namespace {

constexpr double kLogVisible = -690;  // of a probability that is still a normal number
constexpr std::uint64_t kDrawsInABlock =
    64;  // numbers of draws are taken together up to this share

}  // namespace

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
  const double p = 1 / static_cast<double>(population), dm = static_cast<double>(draws);
  const double hit =
      population == 1 ? 1 : std::min(1.0, widen_up(-std::expm1(dm * std::log1p(-p)), 8 * kUlp));
  if (population == 1) return {base_epsilon, group_delta(draws, base_epsilon), 1};
  // Masses start where they can be seen and go on by ratios of neighbouring terms; what is rarer
  // joins the first one.
  const auto visible = [&](std::uint64_t k) {
    return log_binomial_pmf(draws, k, p, 1 - p) > kLogVisible;
  };
  std::uint64_t low = 1, mode = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(dm * p));
  for (std::uint64_t high = mode; low < high;) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (visible(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  const double odds = p / (1 - p);
  double delta = 0, mass = std::exp(log_binomial_pmf(draws, low, p, 1 - p)),
         block = static_cast<double>(low - 1) * std::exp(kLogVisible);
  for (std::uint64_t k = low; k <= draws; block = 0) {
    // δ of a group grows with it, so a block of numbers of draws is bounded by its last one.
    const std::uint64_t last = std::min(draws, k + k / kDrawsInABlock);
    double ratio = 0;
    for (; k <= last; ++k) {
      block += mass;
      ratio = static_cast<double>(draws - k) / static_cast<double>(k + 1) * odds;
      mass *= ratio;
    }
    delta = add_up(delta, block * group_delta(last, base_epsilon));
    // Past the mode what follows falls at least geometrically; it costs no more than if the record
    // were drawn every time.
    const double rest = ratio < 1 ? mass / (1 - ratio) : kInfinity;
    if (rest <= 1e-16 * delta || (k > mode && mass == 0)) {
      delta = add_up(delta, (mass > 0 ? rest : 0) * group_delta(draws, base_epsilon));
      if (delta > 0) delta = add_up(delta, 1e-305);
      break;
    }
  }
  // Ratios accumulate three roundings a step, over the few thousand steps in which nearly all mass
  // lies.
  return {amplified_epsilon(base_epsilon, hit),
          delta == 0 ? 0 : std::min(1.0, widen_up(delta, 1e-9)), 1};
}

}  // namespace sotto
