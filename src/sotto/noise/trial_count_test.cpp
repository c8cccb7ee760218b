#include "sotto/noise/trial_count.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "sotto/core/error.hpp"

namespace sotto::trial_count_test {

// Pearson's statistic of draws against a law, cells with few expected draws put together at the
// end, and the value that a true law passes with probability below 1e-6 (Wilson and Hilferty).
struct Fit {
  double statistic = 0, limit = 0;
};
Fit fit_of(const TrialCount& count, const std::function<double(std::uint64_t)>& law) {
  constexpr int kDraws = 60000;
  constexpr std::size_t kCells = 400;
  Rng rng = Rng::insecure_seed(11);
  std::vector<double> seen(kCells + 1), wanted(kCells + 1);
  for (int i = 0; i < kDraws; ++i)
    ++seen[static_cast<std::size_t>(std::min<std::uint64_t>(count.sample(rng), kCells))];
  double rest = 1;
  for (std::size_t k = 0; k < kCells; ++k) rest -= wanted[k] = law(k);
  wanted[kCells] = std::max(0.0, rest);
  Fit fit;
  double pooled_seen = 0, pooled_wanted = 0, cells = -1;
  const auto add = [&](double s, double w) {
    fit.statistic += (s - w) * (s - w) / w;
    ++cells;
  };
  for (std::size_t k = 0; k <= kCells; ++k) {
    const double w = wanted[k] * kDraws;
    if (w < 20) {
      pooled_seen += seen[k], pooled_wanted += w;
    } else {
      add(seen[k], w);
    }
  }
  if (pooled_wanted > 5) add(pooled_seen, pooled_wanted);
  constexpr double kQuantile = 4.7534;  // of the normal law at 1 − 1e-6
  const double a = 2 / (9 * cells);
  fit.limit = cells * std::pow(1 - a + kQuantile * std::sqrt(a), 3);
  return fit;
}

std::function<double(std::uint64_t)> negative_binomial(double shape, double gamma) {
  return [=](std::uint64_t k) {
    if (k == 0) return 0.0;
    double p = shape == 0 ? (1 - gamma) / -std::log(gamma)
                          : shape * (1 - gamma) / (std::pow(gamma, -shape) - 1);
    for (std::uint64_t l = 1; l < k; ++l)
      p *= (1 - gamma) * (static_cast<double>(l) + shape) / static_cast<double>(l + 1);
    return p;
  };
}

std::function<double(std::uint64_t)> poisson(double mean) {
  return [=](std::uint64_t k) {
    const auto n = static_cast<double>(k);
    return std::exp(n * std::log(mean) - mean - std::lgamma(n + 1));
  };
}

TEST(TrialCount, FollowsItsLawAndAMutantDoesNot) {
  for (const double shape : {0.0, 0.25, 0.5, 1.0}) {
    for (const double mean : {1.5, 4.0, 10.0}) {
      const auto count = TrialCount::truncated_negative_binomial(shape, mean);
      const Fit right = fit_of(count, negative_binomial(shape, count.gamma()));
      EXPECT_LT(right.statistic, right.limit) << shape << " " << mean;
      const Fit scale = fit_of(count, negative_binomial(shape, count.gamma() * 1.15));
      EXPECT_GT(scale.statistic, scale.limit) << shape << " " << mean;
    }
  }
  for (const double mean : {0.3, 2.5, 10.0}) {
    const auto count = TrialCount::poisson(mean);
    const Fit right = fit_of(count, poisson(mean));
    EXPECT_LT(right.statistic, right.limit) << mean;
    const Fit wrong = fit_of(count, poisson(mean * 1.1));
    EXPECT_GT(wrong.statistic, wrong.limit) << mean;
  }
  // Another shape of the same mean is told apart as well.
  const auto half = TrialCount::truncated_negative_binomial(0.5, 10);
  const Fit other = fit_of(half, negative_binomial(0.25, half.gamma()));
  EXPECT_GT(other.statistic, other.limit);
}

TEST(TrialCount, HasTheGammaOfItsMeanRoundedUp) {
  EXPECT_NEAR(TrialCount::truncated_negative_binomial(0.5, 10).gamma(), 0.0625, 1e-9);
  EXPECT_NEAR(TrialCount::truncated_negative_binomial(0, 10).gamma(), 0.0269183, 1e-7);
  EXPECT_NEAR(TrialCount::truncated_negative_binomial(0.5, 100).gamma(), 0.0053663, 1e-7);
  const double geometric = TrialCount::truncated_negative_binomial(1, 8).gamma();
  EXPECT_GT(geometric, 0.125);
  EXPECT_LT(geometric, 0.125 * (1 + 1e-8));
  // Next to one trial 1 − γ has lost its digits; the mean is at most the stated one all the same.
  for (const double shape : {0.0, 0.5, 1.0}) {
    EXPECT_EQ(TrialCount::truncated_negative_binomial(shape, 1 + 1e-12).gamma(), 1);
    const double near = TrialCount::truncated_negative_binomial(shape, 1 + 1e-6).gamma();
    EXPECT_NEAR((1 - near) * (1 + shape) / 2, 1e-6, 2e-9) << shape;
    EXPECT_LE((1 - near) * (1 + shape) / 2, 1e-6) << shape;
  }
}

TEST(TrialCount, OfMeanOneIsOne) {
  const auto one = TrialCount::truncated_negative_binomial(0, 1);
  Rng rng = Rng::insecure_seed(1);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(one.sample(rng), 1U);
}

TEST(TrialCount, StatesWhatItDraws) {
  const Event trial = PureEvent{0.25};
  const Event event = TrialCount::truncated_negative_binomial(0.5, 12).event(trial);
  const auto* selection = event.get_if<PrivateSelectionEvent>();
  ASSERT_NE(selection, nullptr);
  EXPECT_EQ(selection->distribution, SelectionDistribution::truncated_negative_binomial);
  EXPECT_EQ(selection->shape, 0.5);
  EXPECT_EQ(selection->mean, 12);
  EXPECT_EQ(*selection->event, trial);
  EXPECT_EQ(TrialCount::poisson(3).event(trial),
            Event(PrivateSelectionEvent{SelectionDistribution::poisson, 0, 3, share(trial)}));
  EXPECT_EQ(TrialCount::truncated_negative_binomial(0, 10).describe(), "logarithmic, mean 10");
}

TEST(TrialCount, RefusesWhatHasNoLaw) {
  EXPECT_THROW(TrialCount::truncated_negative_binomial(-0.1, 10), InvalidArgument);
  EXPECT_THROW(TrialCount::truncated_negative_binomial(1.1, 10), InvalidArgument);
  EXPECT_THROW(TrialCount::truncated_negative_binomial(NAN, 10), InvalidArgument);
  EXPECT_THROW(TrialCount::truncated_negative_binomial(0, 0.9), InvalidArgument);
  EXPECT_THROW(TrialCount::truncated_negative_binomial(0, NAN), InvalidArgument);
  EXPECT_THROW(TrialCount::truncated_negative_binomial(0, 1e9), InvalidArgument);
  EXPECT_THROW(TrialCount::poisson(0), InvalidArgument);
  EXPECT_THROW(TrialCount::poisson(INFINITY), InvalidArgument);
}

}  // namespace sotto::trial_count_test
