#include "sotto/accounting/composition/amplification.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "sotto/accounting/composition/group.hpp"
#include "sotto/accounting/composition/shuffle.hpp"
#include "sotto/accounting/numeric/detail/loss_variable.hpp"
#include "sotto/accounting/renyi/conversions.hpp"
#include "sotto/core/numeric/gaussian_dp.hpp"

namespace sotto::amplification_test {

// The published code has clones with probability e^(−ε₀); those of one common randomizer are more.
TEST(Shuffle, IsBelowTheIntervalsOfThePublishedCode) {
  struct Case {
    std::uint64_t n;
    double local, delta, low, high;
  };
  for (const Case& c : {Case{100000, 4, 1e-6, .16746, .17243}, Case{10000, 1, 1e-6, .05298, .05528},
                        Case{1000000, 2, 1e-8, .017550, .017592}}) {
    const Enclosure e = shuffle_epsilon(c.local, c.n, Delta(c.delta));
    // About as if there were 2/(1 + e^(−ε₀)) times as many users.
    const double fewer = std::sqrt((1 + std::exp(-c.local)) / 2);
    EXPECT_GE(e.lower, 0.98 * fewer * c.low);
    EXPECT_LE(e.upper, 1.02 * fewer * c.high);
    EXPECT_LE(e.upper - e.lower, 2e-3 * e.upper);
  }
}

// The pair of counts by brute force.
TEST(Shuffle, AgreesWithEnumerationForFewUsers) {
  const double local = 1.3, eps = 0.4;
  const int n = 9;
  const double clone = 2 / (1 + std::exp(local)), p = 1 / (1 + std::exp(-local));
  const auto binomial = [](int k, int i, double r) {
    return std::exp(std::lgamma(k + 1) - std::lgamma(i + 1) - std::lgamma(k - i + 1)) *
           std::pow(r, i) * std::pow(1 - r, k - i);
  };
  double delta = 0;
  for (int c = 0; c < n; ++c) {
    for (int i = 0; i <= c + 1; ++i) {
      const double before = i > 0 ? binomial(c, i - 1, 0.5) : 0,
                   here = i <= c ? binomial(c, i, 0.5) : 0;
      delta += binomial(n - 1, c, clone) *
               std::max(0.0, p * before + (1 - p) * here -
                                 std::exp(eps) * ((1 - p) * before + p * here));
    }
  }
  const Enclosure d = shuffle_delta(local, n, eps);
  EXPECT_NEAR(d.upper, delta, 1e-8 * delta);
  EXPECT_NEAR(d.lower, delta, 1e-8 * delta);
}

TEST(Shuffle, NeverWorseThanNoShuffleAndBetterWithMoreUsers) {
  double last = 1.5;
  for (std::uint64_t n : {1ull, 2ull, 10ull, 100ull, 1000ull, 10000ull}) {
    const double e = shuffle_epsilon(1.5, n, Delta(1e-6)).upper;
    EXPECT_LE(e, last);
    last = e;
  }
  EXPECT_THROW(shuffle_epsilon_closed_form(5, 100, Delta(1e-6)), AccountingError);
}

// Truths by enumeration with 60 to 800 digits.
TEST(Shuffle, IsNotBelowTheTruthWhereDoublesCancelOrOverflow) {
  EXPECT_GE(shuffle_epsilon(800, 3, Delta(1e-6)).upper, 799.999999);
  EXPECT_GE(shuffle_delta(800, 3, 720).upper, 1 - 1e-6);
  EXPECT_GE(shuffle_epsilon(1e300, 1000, Delta(1e-6)).upper, 0.99e300);
  EXPECT_GE(shuffle_delta(7.990171366778733e-11, 1, 7.990171366770743e-11).upper, 3.995e-23);
  EXPECT_GE(shuffle_delta(0.0025415084592515596, 5, 0.0025415059177431).upper, 7.99280532e-11);
  EXPECT_GE(shuffle_delta(1e-16, 1, 0).upper, 4.99e-17);
  EXPECT_GE(shuffle_epsilon(1e-17, 1, Delta(1e-30)).upper, 0.99e-17);
  const Enclosure many = shuffle_delta(1, 9'000'000'000'000'000, 1e-4);  // ends, too
  EXPECT_LE(many.lower, many.upper);
  EXPECT_LE(many.upper, shuffle_delta(1, 10'000'000'000, 1e-4).upper);
}

TEST(Amplification, DrawingWithReplacementCostsAtLeastAsMuchAsWithout) {
  const auto gaussian = [](std::uint64_t k, double e) {
    return gaussian_delta_upper(group_mu(0.5, k), e);
  };
  const ApproximateDp with = amplify_with_replacement(1.0, gaussian, 100, 10000);
  const ApproximateDp without = amplify_fixed_size({1.0, gaussian_delta_upper(0.5, 1.0), 1}, 0.01);
  EXPECT_LE(with.epsilon, without.epsilon);  // 1 − (1 − 1/n)^m < m/n
  EXPECT_GT(with.delta, without.delta * 0.99);
  // A pool of one record: every draw is that record.
  EXPECT_NEAR(amplify_with_replacement(1.0, gaussian, 3, 1).delta, gaussian_delta_upper(1.5, 1.0),
              1e-11);
}

TEST(Group, FormulasOfEveryNotion) {
  EXPECT_EQ(group_pure(0.5, 4), 2);
  EXPECT_NEAR(group_zcdp(0.1, 4), 1.6, 1e-14);
  EXPECT_NEAR(group_approximate({0, 1e-6, 1}, 5).delta, 5e-6, 1e-18);
  EXPECT_EQ(group_approximate({1, 1e-3, 1}, 5000).delta, 1);
  EXPECT_NEAR(group_renyi([](double a) { return 0.1 * a; }, 1, 4), 3 * 0.8, 1e-12);
}

TEST(LossVariable, MomentsAndTailsMatchSampling) {
  std::mt19937_64 random(17);
  std::normal_distribution<double> normal;
  std::exponential_distribution<double> exponential;
  constexpr int kDraws = 400000;
  const double mu = 0.7, t = 1.3;
  double g = 0, g2 = 0, l = 0, l2 = 0, g_tail = 0, l_tail = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = mu * normal(random) + mu * mu / 2;
    const double z = (random() & 1 ? 1 : -1) * exponential(random),
                 y = std::abs(z - t) - std::abs(z);
    g += x, g2 += x * x, l += y, l2 += y * y, g_tail += x > 0.5, l_tail += y > 0.5;
  }
  const LossVariable gaussian = LossVariable::gaussian(mu), laplace = LossVariable::laplace(t);
  EXPECT_NEAR(g / kDraws, gaussian.mean(), 6e-3);
  EXPECT_NEAR(l / kDraws, laplace.mean(), 1e-2);
  EXPECT_NEAR(l2 / kDraws - std::pow(l / kDraws, 2), laplace.variance(), 1e-2);
  EXPECT_NEAR(g2 / kDraws - std::pow(g / kDraws, 2), gaussian.variance(), 1e-2);
  EXPECT_NEAR(g_tail / kDraws, gaussian.tail(0.5), 5e-3);
  EXPECT_NEAR(l_tail / kDraws, laplace.tail(0.5), 5e-3);
}

TEST(LossVariable, TheDriftBoundIsAttainedByBinaryResponse) {
  for (double e : {0.01, 0.5, 3.0}) {
    EXPECT_NEAR(LossVariable::randomized_response(e).mean(), drift_bound(e), 1e-12);
    EXPECT_LE(LossVariable::randomized_response(e, 10).mean(), drift_bound(e));
    EXPECT_LE(LossVariable::laplace(e).mean(), drift_bound(e));
    EXPECT_LE(drift_bound(e), e * std::expm1(e));
  }
}

TEST(Conversions, LossyOnesAreMarkedAndEachStepIsSound) {
  int lossy = 0;
  for (const ConversionInfo& c : conversions()) lossy += c.lossy;
  EXPECT_GT(lossy, 4);
  for (double e : {0.1, 1.0, 4.0}) {
    const Delta d(1e-6);
    // Through a looser notion the answer can only grow.
    EXPECT_GE(zcdp_to_approximate_basic(pure_to_zcdp(e), d),
              zcdp_to_approximate(pure_to_zcdp(e), d));
    EXPECT_GE(zcdp_to_approximate(gdp_to_zcdp(e), d), gdp_to_approximate(e, d));
    EXPECT_GE(pure_to_zcdp(e) * 3, pure_to_renyi(e, 3));
    // The Gaussian curve below randomized response: its δ dominates at every ε.
    const double mu = pure_to_gdp(e);
    for (double x : {0.0, 0.3 * e, 0.9 * e}) {
      EXPECT_GE(gaussian_delta_upper(mu, x),
                (std::exp(e) - std::exp(x)) / (1 + std::exp(e)) * (1 - 1e-12));
    }
  }
}

}  // namespace sotto::amplification_test
