// Lower bounds of ε against published and recomputed values, and against their promise.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "sotto/audit/counts.hpp"
#include "sotto/audit/one_run.hpp"
#include "sotto/audit/proportion.hpp"
#include "sotto/core/error.hpp"
#include "support/statistics.hpp"

namespace sotto::audit::bounds_test {

constexpr double kAlpha = 0.05;

TEST(Proportion, LimitsOfAllAndOfNone) {
  EXPECT_NEAR(clopper_pearson_upper(0, 500, 0.025), 1 - std::pow(0.025, 1.0 / 500), 1e-13);
  EXPECT_NEAR(clopper_pearson_lower(500, 500, 0.025), std::pow(0.025, 1.0 / 500), 1e-13);
  EXPECT_EQ(clopper_pearson_upper(7, 7, 0.1), 1);
  EXPECT_EQ(clopper_pearson_lower(0, 7, 0.1), 0);
}

TEST(Counts, KnownBounds) {
  EXPECT_NEAR(clopper_pearson_epsilon({500, 0, 0, 500}, 0, kAlpha), 4.9055942, 5e-8);
  EXPECT_NEAR(clopper_pearson_epsilon({1000, 0, 0, 1000}, 1e-5, kAlpha), 5.6005775, 5e-8);
  const ErrorRates rates = error_rates({900, 100, 20, 980}, kAlpha);
  EXPECT_NEAR(rates.false_negative, 0.1202879, 5e-8);
  EXPECT_NEAR(rates.false_positive, 0.0307200, 5e-8);
  EXPECT_NEAR(epsilon_of(rates, 1e-5), 3.3546683, 5e-8);
  const GaussianEstimate gaussian = gaussian_estimate(rates, 1e-5);
  EXPECT_NEAR(gaussian.mu, 3.0438638, 5e-8);
  EXPECT_NEAR(gaussian.epsilon, 16.9920810, 5e-7);
}

TEST(Counts, NothingIsProvedByAGuess) {
  EXPECT_EQ(clopper_pearson_epsilon({50, 50, 50, 50}, 0, kAlpha), 0);
  EXPECT_EQ(clopper_pearson_epsilon({0, 10, 10, 0}, 0, kAlpha), 0);
  EXPECT_EQ(gaussian_estimate(error_rates({50, 50, 50, 50}, kAlpha), 1e-5).mu, 0);
  EXPECT_THROW(clopper_pearson_epsilon({0, 0, 1, 1}, 0, kAlpha), InvalidArgument);
}

TEST(OneRunBound, KnownBounds) {
  EXPECT_NEAR(one_run_epsilon({100, 100, 100}, 0, kAlpha), 3.4929654, 5e-8);
  EXPECT_NEAR(one_run_epsilon({1000, 1000, 1000}, 0, kAlpha), 5.8090683, 5e-8);
  EXPECT_NEAR(one_run_epsilon({1000, 1000, 1000}, 1e-5, kAlpha), 5.7822831, 5e-8);
  EXPECT_NEAR(one_run_epsilon({1000, 100, 95}, 1e-5, kAlpha), 2.1651758, 5e-8);
  EXPECT_NEAR(one_run_epsilon({1000, 500, 400}, 1e-5, kAlpha), 1.1979686, 5e-8);
  EXPECT_NEAR(one_run_epsilon({10000, 1000, 900}, 1e-5, kAlpha), 2.0151945, 5e-8);
  EXPECT_NEAR(one_run_p_value({1000, 100, 90}, 1, 1e-5), 8.4128856e-4, 5e-11);
  EXPECT_NEAR(one_run_p_value({1000, 100, 90}, 1, 1e-3), 8.1420401e-2, 5e-9);
}

TEST(OneRunBound, ImpossibleNumbersAreRefused) {
  EXPECT_THROW(one_run_epsilon({0, 0, 0}, 0, kAlpha), InvalidArgument);
  EXPECT_THROW(one_run_epsilon({10, 11, 5}, 0, kAlpha), InvalidArgument);
  EXPECT_THROW(one_run_epsilon({10, 5, 6}, 0, kAlpha), InvalidArgument);
  EXPECT_EQ(one_run_epsilon({10, 0, 0}, 0, kAlpha), 0);
}

// Canaries of one Gaussian sum each: the estimate of μ may exceed the truth in at most a share
// kAlpha of runs, here of 400 (false alarm: test::kAlpha).
TEST(OneRunBound, TheGaussianEstimateKeepsItsConfidence) {
  std::mt19937_64 engine(1);
  std::normal_distribution<> normal;
  for (const double mu : {0.0, 0.5, 1.5}) {
    std::uint64_t exceeded = 0;
    constexpr std::uint64_t kRuns = 400;
    double mean = 0;
    for (std::uint64_t i = 0; i < kRuns; ++i) {
      constexpr std::size_t kCanaries = 500, kSide = 50;
      std::vector<std::pair<double, bool>> all;
      for (std::size_t c = 0; c < kCanaries; ++c) {
        const bool in = (engine() & 1) != 0;
        all.push_back({normal(engine) + (in ? mu : 0), in});
      }
      std::ranges::sort(all);
      OneRun run{kCanaries, 2 * kSide, 0};
      for (std::size_t c = 0; c < kSide; ++c)
        run.correct += !all[c].second + all[kCanaries - 1 - c].second;
      const double found = one_run_gaussian_estimate(run, 1e-5, kAlpha).mu;
      exceeded += found > mu;
      mean += found / kRuns;
    }
    EXPECT_GT(test::binomial_p(std::min<std::uint64_t>(exceeded, kRuns / 2), kRuns, kAlpha) +
                  (static_cast<double>(exceeded) <= kAlpha * kRuns ? 1 : 0),
              test::kAlpha)
        << mu << " exceeded " << exceeded;
    EXPECT_GE(mean, mu > 1 ? 0.4 * mu : 0);
  }
}

}  // namespace sotto::audit::bounds_test
