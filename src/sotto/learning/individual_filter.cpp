#include "sotto/learning/individual_filter.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "sotto/core/error.hpp"

namespace sotto {
namespace {

constexpr double kRaised = 0x1p-20;   // of μ, for the lattice
constexpr double kFailure = 0x1p-69;  // twice the mass of the far part that is cut off
constexpr double kFinest = 0x1p20;    // lattice steps in σ from which the comparison holds

double up(double x) { return std::nextafter(x, std::numeric_limits<double>::infinity()); }
double down(double x) { return std::nextafter(x, 0.0); }

// What the lattice adds to ε (docs/math/additive-mechanisms.md, section 4, for all steps at once).
double lattice_cost(double mu, double sigma, double coordinates) {
  const double t = std::log(4 / kFailure);
  const double k = std::sqrt(coordinates + 2 * std::sqrt(coordinates * t) + 2 * t) + 1;
  return 1.001 * (coordinates + (k + mu) * (k + mu)) / (24 * sigma * sigma);
}

}  // namespace

IndividualBudget::IndividualBudget(double full_steps) {
  if (!(full_steps >= 1 && full_steps <= kMostSteps)) {
    throw InvalidArgument(
        fmt::format("the budget of a record is {} steps of full norm; it must be from 1 to 2^30",
                    full_steps),
        "take more steps, or a larger typical norm");
  }
  limit_ = static_cast<std::uint64_t>(full_steps * static_cast<double>(kFullStep));
}

IndividualBudget IndividualBudget::for_gdp(double mu, double noise_multiplier) {
  const double ratio = down(mu * noise_multiplier);
  return IndividualBudget(down(ratio * ratio));
}

IndividualBudget IndividualBudget::for_zcdp(double rho, double noise_multiplier) {
  return for_renyi(1, rho, noise_multiplier);
}

// A Gaussian at distance c has order-α divergence α·c²/(2σ²). Quotients of powers of two are exact,
// everything else is rounded towards fewer steps.
IndividualBudget IndividualBudget::for_renyi(double order, double divergence,
                                             double noise_multiplier) {
  const double variance = noise_multiplier * noise_multiplier;
  const double steps = 2 * divergence * variance / order;
  const bool exact = std::fma(noise_multiplier, noise_multiplier, -variance) == 0 &&
                     std::fma(divergence, variance, -divergence * variance) == 0 &&
                     std::fma(steps, order, -2 * divergence * variance) == 0;
  return IndividualBudget(exact ? steps : down(down(down(steps))));
}

double IndividualBudget::full_steps() const {
  return static_cast<double>(limit_) / static_cast<double>(kFullStep);
}

std::uint64_t IndividualBudget::charge(double squared_share) {
  if (!(squared_share <= 1)) return kFullStep;  // clipped, or not a number
  return static_cast<std::uint64_t>(std::ceil(squared_share * static_cast<double>(kFullStep)));
}

std::string_view name(OverBudget rule) { return rule == OverBudget::shorten ? "shorten" : "drop"; }

OverBudget parse_over_budget(std::string_view text) {
  for (const OverBudget rule : {OverBudget::shorten, OverBudget::drop}) {
    if (text == name(rule)) return rule;
  }
  throw InvalidArgument(fmt::format("`over_budget` is '{}'; it must be shorten or drop", text));
}

IndividualFilter::IndividualFilter(IndividualBudget budget, std::size_t private_records,
                                   OverBudget over_budget)
    : limit_(budget.limit()), over_budget_(over_budget), spent_(private_records) {}

Event filtered_gaussian_event(double mu, double sigma_in_steps, double coordinates) {
  const double raised = up(mu * (1 + kRaised));
  const double density = std::exp(-mu * mu / 8) / std::sqrt(2 * std::numbers::pi);
  const bool proved =
      sigma_in_steps >= kFinest &&
      kRaised * mu * density >= 16 * (lattice_cost(mu, sigma_in_steps, coordinates) + kFailure);
  if (!proved) return ZcdpEvent{up(mu * mu / 2 * (1 + 0x1p-50))};
  return compose({GdpEvent{raised}, ApproximateEvent{0, kFailure}});
}

}  // namespace sotto
