#include "sotto/noise/trial_count.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/noise/bernoulli.hpp"
#include "sotto/noise/geometric.hpp"
#include "sotto/noise/uniform.hpp"

namespace sotto {
namespace {

constexpr std::uint64_t kShapeParts = std::uint64_t{1} << 20;
constexpr std::uint64_t kParts = std::uint64_t{1} << 62;
constexpr double kLargestMean = 1000;
constexpr double kRoundedUp = 1e-9;

// At γ = e^(−x); without 1 − γ, which loses its digits next to one trial.
double mean_at(double shape, double x) {
  if (x == 0) return 1;
  const double odds = std::expm1(x);
  return shape == 0 ? odds / x : shape * odds / -std::expm1(-shape * x);
}

// A little above the γ of this mean: the mean grows from 1 to ∞ with x.
double gamma_of(double shape, double mean) {
  double low = 0, high = 21;
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    (mean_at(shape, middle) > mean ? high : low) = middle;
  }
  return std::min(1.0, std::exp(-low) * (1 + kRoundedUp));
}

void check_mean(double mean, double least, bool open) {
  if (!(open ? mean > least : mean >= least) || !(mean <= kLargestMean))
    throw InvalidArgument(
        fmt::format("the mean number of trials is {:g}; it must be {} {:g} and "
                    "at most {:g}",
                    mean, open ? "above" : "at least", least, kLargestMean));
}

// Mean 1.
std::uint64_t poisson_of_one(Rng& rng) {
  for (;;) {
    const std::uint64_t n = geometric(rng, 1, 2);
    bool kept = n > 0 || bernoulli(rng, 1, 2);
    for (std::uint64_t l = 3; kept && l <= n; ++l) kept = bernoulli(rng, 2, l);
    if (kept) return n;
  }
}

}  // namespace

TrialCount TrialCount::truncated_negative_binomial(double shape, double mean) {
  if (!(shape >= 0 && shape <= 1))
    throw InvalidArgument(
        fmt::format("the shape of the number of trials is {:g}; it must be from 0 to 1", shape),
        "0 is logarithmic, 1 geometric");
  check_mean(mean, 1, false);
  const double parts = std::ceil(shape * static_cast<double>(kShapeParts));
  TrialCount count(SelectionDistribution::truncated_negative_binomial,
                   parts / static_cast<double>(kShapeParts), mean);
  count.parts_ = static_cast<std::uint64_t>(parts);
  const double gamma = mean == 1 ? 1.0 : gamma_of(count.shape_, mean);
  count.gamma_ = static_cast<std::uint64_t>(std::ceil(gamma * static_cast<double>(kParts)));
  return count;
}

TrialCount TrialCount::poisson(double mean) {
  check_mean(mean, 0, true);
  TrialCount count(SelectionDistribution::poisson, 0, mean);
  // Rounded down: fewer trials than the stated mean.
  count.gamma_ = static_cast<std::uint64_t>(
      std::floor(mean / std::ceil(mean) * (1 - kRoundedUp) * static_cast<double>(kParts)));
  return count;
}

double TrialCount::gamma() const {
  return static_cast<double>(gamma_) / static_cast<double>(kParts);
}

std::uint64_t TrialCount::sample(Rng& rng) const {
  if (distribution_ == SelectionDistribution::poisson) {
    std::uint64_t kept = 0;
    const auto draws = static_cast<std::uint64_t>(std::ceil(mean_));
    for (std::uint64_t i = 0; i < draws; ++i)
      for (std::uint64_t n = poisson_of_one(rng); n > 0; --n)
        kept += bernoulli(rng, gamma_, kParts) ? 1 : 0;
    return kept;
  }
  for (;;) {
    const std::uint64_t k = 1 + geometric(rng, gamma_, kParts);
    bool kept = true;
    // At shape 1 every coin is sure; it is not tossed.
    for (std::uint64_t l = 1; kept && l < k && parts_ < kShapeParts; ++l)
      kept = bernoulli(rng, l * kShapeParts + parts_, (l + 1) * kShapeParts);
    if (kept) return k;
  }
}

std::string TrialCount::describe() const {
  const std::string law = distribution_ == SelectionDistribution::poisson ? "Poisson"
                          : shape_ == 0                                   ? "logarithmic"
                          : shape_ == 1                                   ? "geometric"
                                        : fmt::format("negative binomial of shape {:g}", shape_);
  return fmt::format("{}, mean {:g}", law, mean_);
}

Event TrialCount::event(const Event& trial) const {
  return PrivateSelectionEvent{distribution_, shape_, mean_, share(trial)};
}

}  // namespace sotto
