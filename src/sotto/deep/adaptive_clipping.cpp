#include "sotto/deep/adaptive_clipping.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/noise/discrete_gaussian.hpp"

namespace sotto::deep {
namespace {

constexpr std::int64_t kGrid = std::int64_t{1} << 24;  // steps in one half of a record

}  // namespace

AdaptiveClipping::AdaptiveClipping(AdaptiveClippingOptions options, double expected_batch)
    : options_(options), expected_batch_(expected_batch) {
  if (!(expected_batch >= 1))
    throw InvalidArgument(
        fmt::format("the expected batch must be at least 1, not {}", expected_batch));
  if (!(options_.quantile > 0 && options_.quantile < 1))
    throw InvalidArgument(fmt::format(
        "the quantile of adaptive clipping must be between 0 and 1, not {}", options_.quantile));
  if (!(options_.rate > 0) || !std::isfinite(options_.rate))
    throw InvalidArgument(
        fmt::format("the rate of adaptive clipping must be above 0, not {}", options_.rate));
  if (options_.rule == AdaptiveRule::groups && options_.groups < 2)
    throw InvalidArgument(
        fmt::format("clipping by groups needs at least 2 groups, not {}", options_.groups));
  if (!(options_.smallest > 0 && options_.smallest <= options_.largest))
    throw InvalidArgument(fmt::format(
        "the smallest threshold of adaptive clipping must be above 0, not {}", options_.smallest));
  if (options_.count_noise == 0)
    options_.count_noise =
        options_.rule == AdaptiveRule::groups ? 10 : std::max(1.0, expected_batch / 20);
  if (!(options_.count_noise >= 0.01 && options_.count_noise <= 1e6))
    throw InvalidArgument(fmt::format("the noise on the count must be between 0.01 and 1e6, not {}",
                                      options_.count_noise));
}

double AdaptiveClipping::gradient_multiplier(double total) const {
  const double left = 1 / (total * total) - 1 / (count_multiplier() * count_multiplier());
  if (!(left > 0)) {
    throw InvalidArgument(
        fmt::format(
            "a noise multiplier of {} leaves nothing for the gradient: the count alone has {}",
            total, count_multiplier()),
        "raise the noise on the count");
  }
  return 1 / std::sqrt(left);
}

double AdaptiveClipping::update(Rng& rng, double norm, std::int64_t private_records,
                                std::int64_t private_unclipped) const {
  // In units of 1/2: Σ(2b_i − 1), on a grid so fine that the discrete law is the continuous one of
  // the event to 50 digits. One record more or fewer moves it by kGrid.
  std::array<std::int64_t, 1> count{(2 * private_unclipped - private_records) * kGrid};
  const double sigma = count_multiplier() * static_cast<double>(kGrid);
  const DiscreteGaussian noise(sigma);
  {
    auto scope = rng.query({.mechanism = "discrete_gaussian",
                            .values = std::span<const std::int64_t>(count),
                            .sensitivity = static_cast<double>(kGrid),
                            .norm = Norm::l2,
                            .scale = sigma});
    std::array<std::int64_t, 1> draw{};
    noise.fill(rng, draw);
    count[0] += draw[0];
    scope.publish(std::span<std::int64_t>(count));
  }
  const double fraction =
      0.5 + static_cast<double>(count[0]) / static_cast<double>(kGrid) / 2 / expected_batch_;
  const double moved = norm * std::exp(-options_.rate * (fraction - options_.quantile));
  return std::clamp(moved, options_.smallest, options_.largest);
}

std::vector<double> AdaptiveClipping::update_groups(
    Rng& rng, std::vector<double> norms, double clip,
    std::span<const std::int64_t> private_counts) const {
  // One record is in one cell: it moves the vector by kGrid.
  std::vector<std::int64_t> counts(private_counts.begin(), private_counts.end());
  for (std::int64_t& count : counts) count *= kGrid;
  const double sigma = count_multiplier() * static_cast<double>(kGrid);
  const DiscreteGaussian noise(sigma);
  {
    auto scope = rng.query({.mechanism = "discrete_gaussian",
                            .values = std::span<const std::int64_t>(counts),
                            .sensitivity = static_cast<double>(kGrid),
                            .norm = Norm::l2,
                            .scale = sigma});
    std::vector<std::int64_t> draws(counts.size());
    noise.fill(rng, draws);
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += draws[i];
    scope.publish(std::span<std::int64_t>(counts));
  }
  std::vector<double> beyond, all;
  double sum_beyond = 0, sum_all = 0;
  for (std::size_t k = 0; k < norms.size(); ++k) {
    const double m = static_cast<double>(counts[2 * k]) / static_cast<double>(kGrid);
    const double b = m + static_cast<double>(counts[2 * k + 1]) / static_cast<double>(kGrid);
    all.push_back(std::max(0.0, b));
    beyond.push_back(std::clamp(m, 0.0, all.back()));
    sum_all += all.back();
    sum_beyond += beyond.back();
  }
  const double seen = options_.count_noise;  // so many made-up records with the common share
  const double common = std::clamp(sum_all > 0 ? sum_beyond / sum_all : 0.0, 0.01, 1.0);
  for (std::size_t k = 0; k < norms.size(); ++k) {
    const double share = (beyond[k] + seen * common) / (all[k] + seen);
    const double wanted = clip / 2 * (1 + share / common);
    const double moved = norms[k] + options_.rate * (wanted - norms[k]);
    norms[k] = std::clamp(moved, clip / 2, kMostRoom * clip);
  }
  return norms;
}

}  // namespace sotto::deep
