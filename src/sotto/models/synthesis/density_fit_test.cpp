#include "sotto/models/synthesis/detail/density_fit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>
#include <vector>

namespace sotto::density_fit_test {

double sum(const std::vector<double>& x) { return std::accumulate(x.begin(), x.end(), 0.0); }

double apart(const std::vector<double>& a, const std::vector<double>& b) {
  double total = 0;
  for (std::size_t i = 0; i < a.size(); ++i) total += std::abs(a[i] - b[i]);
  return total;
}

std::vector<double> bell(std::size_t parts, double mean, double deviation, double total) {
  std::vector<double> counts(parts);
  for (std::size_t i = 0; i < parts; ++i)
    counts[i] =
        std::exp(-std::pow((static_cast<double>(i) + 0.5) / static_cast<double>(parts) - mean, 2) /
                 (2 * deviation * deviation));
  const double all = sum(counts);
  for (double& c : counts) c *= total / all;
  return counts;
}

// Counts of a bell and of a slope, with a tenth of the records as noise in each of 16 parts: what
// is fitted is nearer to the truth than what was measured, by half in the mean of 200 (the seed is
// fixed).
TEST(FittedDensity, IsNearerThanTheCounts) {
  std::mt19937_64 engine(1);
  std::normal_distribution<> noise(0, 40);
  std::vector<double> slope(16);
  for (std::size_t i = 0; i < 16; ++i) slope[i] = 400 * (30.0 - 2 * static_cast<double>(i)) / 240;
  for (const std::vector<double>& truth : {bell(16, 0.3, 0.1, 400), slope}) {
    double before = 0, after = 0;
    for (int run = 0; run < 200; ++run) {
      std::vector<double> noisy = truth;
      for (double& c : noisy) c += noise(engine);
      const FittedDensity fit = fitted_density(noisy, 40, 400);
      EXPECT_NEAR(sum(fit.parts), 400, 1e-6);
      before += apart(noisy, truth), after += apart(fit.parts, truth);
    }
    EXPECT_LT(after, 0.5 * before);
  }
}

TEST(FittedDensity, KeepsWhatNoiseDoesNotExplain) {
  std::vector<double> counts = bell(16, 0.5, 0.2, 900);
  counts[0] += 2100;
  const FittedDensity fit = fitted_density(counts, 10, 3000);
  EXPECT_NEAR(fit.parts[0], counts[0], 60);
  EXPECT_LT(apart(fit.parts, counts), 150);
}

TEST(FittedDensity, OddCountsGiveShares) {
  for (const std::vector<double>& counts : {std::vector<double>{5},
                                            {0, 0},
                                            {-30, -20, -10, -40},
                                            {1e9, -1e9, 0},
                                            std::vector<double>(kMostParts, 1e-9)}) {
    for (const double deviation : {1e-3, 1.0, 1e6}) {
      const FittedDensity fit = fitted_density(counts, deviation, 10);
      EXPECT_NEAR(sum(fit.parts), 10, 1e-6);
      EXPECT_NEAR(sum(fit.places), 1, 1e-9);
      for (const double x : fit.parts) EXPECT_TRUE(x >= 0 && std::isfinite(x));
      for (const double x : fit.places) EXPECT_GT(x, 0);
      EXPECT_TRUE(fit.at(0) > 0 && fit.at(1) > 0);
    }
  }
}

TEST(Reconciled, NoisyCountsGiveWayMost) {
  const std::vector<double> x =
      reconciled(std::vector<double>{270, 130}, std::vector<double>{1, 40}, 300);
  EXPECT_NEAR(x[0], 270 - 100.0 / 41, 1e-9);
  EXPECT_NEAR(x[1], 130 - 4000.0 / 41, 1e-9);
  EXPECT_EQ(reconciled(std::vector<double>{10, -50, 8}, std::vector<double>{1, 1, 1}, 12),
            (std::vector<double>{7, 0, 5}));
  EXPECT_EQ(reconciled(std::vector<double>{-3}, std::vector<double>{1}, 2),
            (std::vector<double>{2}));
}

}  // namespace sotto::density_fit_test
