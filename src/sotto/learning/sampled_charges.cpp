#include "sotto/learning/sampled_charges.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sotto/accounting/renyi/renyi.hpp"

namespace sotto {
namespace {

// Integer orders, whose divergences are exact sums.
constexpr double kOrders[] = {2,  3,  4,  5,  6,  7,  8,  9,  10, 11,  12,  13,  14, 16,
                              18, 20, 24, 28, 32, 40, 48, 64, 96, 128, 192, 256, 512};
constexpr double kRounding = 0.01;  // of C, whatever a record's own norm is

RenyiCurve curve_of(double rate, double noise_multiplier) {
  const Event noise = GaussianEvent::from_multiplier(noise_multiplier);
  return {rate < 1 ? poisson_sampled(noise, rate) : noise, Relation::add_remove};
}

}  // namespace

SampledCharges::SampledCharges(double rate, double noise_multiplier)
    : rate_(rate), noise_multiplier_(noise_multiplier) {
  const RenyiCurve full = curve_of(rate, noise_multiplier);
  charges_[kLevels] = IndividualBudget::kFullStep;
  for (std::size_t level = 1; level < kLevels; ++level) {
    const double share =
        (static_cast<double>(level) / kLevels + kRounding) / (1 + kRounding) * (1 + 1e-12);
    const RenyiCurve own = curve_of(rate, noise_multiplier / share);
    double most = 0;
    for (const double order : kOrders) {
      const double whole = full(order);
      if (std::isfinite(whole)) most = std::max(most, own(order) / whole);
    }
    charges_[level] = IndividualBudget::charge(most * (1 + 1e-9));
  }
}

std::size_t SampledCharges::level_of(double share) {
  if (!(share < 1)) return kLevels;
  return static_cast<std::size_t>(std::ceil(std::max(0.0, share) * kLevels));
}

double SampledCharges::epsilon(double full_steps, Delta delta) const {
  const RenyiCurve full = curve_of(rate_, noise_multiplier_);
  double best = std::numeric_limits<double>::infinity();
  for (const double order : kOrders) {
    const double whole = full(order) * full_steps * (1 + 1e-12);
    if (std::isfinite(whole)) best = std::min(best, renyi_epsilon(order, whole, delta));
  }
  return std::max(0.0, best);
}

}  // namespace sotto
