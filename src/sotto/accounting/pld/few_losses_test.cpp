// Totals of few losses, with and without a Gaussian, against closed forms and against the grid.
#include "sotto/accounting/pld/detail/few_losses.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sotto/accounting/pld/noise_laws.hpp"
#include "sotto/core/numeric/gaussian_dp.hpp"

namespace sotto::few_losses_test {

LawRun used(LossLaw law, std::uint64_t count) {
  LawRun run;
  run.upper = std::move(law);
  run.count = count;
  return run;
}

TEST(FewLosses, AreAddedUpAsBinomialsAre) {
  const double q = 0.01, l = 3;
  const LossLaw law = sampled_law(approximate_law(l, 0), q);
  const auto few = FewLosses::of({used(law, 3)});
  ASSERT_TRUE(few);
  const double up = sampled_loss(l, q), down = sampled_loss(-l, q);
  for (const double epsilon : {0.0, 0.1, 0.2, 0.4}) {
    const double b = 1 / (1 + std::exp(l));  // Q of the loss l
    double removal = 0, addition = 0;
    for (int j = 0; j <= 3; ++j) {
      const double ways = j == 0 || j == 3 ? 1 : 3, total = j * up + (3 - j) * down,
                   mass = ways * std::pow(b, j) * std::pow(1 - b, 3 - j);
      removal += mass * std::max(0.0, std::exp(total) - std::exp(epsilon));
      addition += mass * std::max(0.0, 1 - std::exp(epsilon + total));
    }
    EXPECT_NEAR(few->upper(epsilon, false), removal, 1e-8 * removal + 1e-299);
    EXPECT_NEAR(few->upper(epsilon, true), addition, 1e-8 * addition + 1e-299);
    EXPECT_GE(few->upper(epsilon, false), removal);
    EXPECT_LE(few->lower(epsilon, false), removal);
    EXPECT_LE(few->lower(epsilon, true), addition);
  }
}

// With a Gaussian the other law only moves ε; what is lost is lost beside it.
TEST(FewLosses, MoveTheQuestionOfAGaussian) {
  const auto few = FewLosses::of({used(gaussian_law(0.5), 1), used(approximate_law(300, 1e-3), 2)});
  ASSERT_TRUE(few);
  const double kept = std::pow(1 - 1e-3, 2);
  const double expected = kept * std::exp(gaussian_log_delta(0.5, 1)) + (1 - kept);
  EXPECT_NEAR(few->upper(601, false), expected, 1e-8 * expected);
  EXPECT_GE(few->upper(601, false), expected * (1 - 1e-14));
  EXPECT_LE(few->lower(601, true), expected);
  EXPECT_NEAR(few->lower(601, true), expected, 1e-8 * expected);
}

TEST(FewLosses, AreOfTheLawsThatHaveThem) {
  EXPECT_FALSE(FewLosses::of({used(laplace_law(1), 2)}));
  EXPECT_FALSE(FewLosses::of({used(sampled_law(gaussian_law(1), 0.1), 2)}));
  EXPECT_FALSE(FewLosses::of({used(approximate_law(1, 0), 5000)}));
  EXPECT_FALSE(FewLosses::of({used(approximate_law(1e4, 0), 401)}));
  EXPECT_FALSE(FewLosses::of({used(randomized_response_law(1, 3), 100)}));
  EXPECT_TRUE(FewLosses::of({used(randomized_response_law(1, 3), 80)}));
  EXPECT_FALSE(FewLosses::of({used(folded(sampled_law(approximate_law(1, 0), 0.1)), 2)}));
}

// One loss has one total, however often it is used.
TEST(FewLosses, OneLossHasOneTotal) {
  LossLaw one;
  one.atoms = {{0, 1 - 1e-15, 1 - 1e-15}};
  one.p_infinite = one.q_infinite = 1e-15;
  const auto few = FewLosses::of({used(one, std::uint64_t{1} << 20)});
  ASSERT_TRUE(few);
  const double expected = -std::expm1(0x1p20 * std::log1p(-1e-15));
  EXPECT_GE(few->upper(1, false), expected);
  EXPECT_LE(few->lower(1, false), expected);
  // As many as a number holds: errors of so many uses are charged by a grid.
  EXPECT_FALSE(FewLosses::of({used(one, ~std::uint64_t{0})}));
}

// A sample that nearly always holds the record: what is left without it must not be rounded away.
TEST(FewLosses, LossesOfLargeSamplesAreRight) {
  for (const double without : {0x1p-53, 1e-12, 1e-8, 1e-3}) {
    for (const double l : {-37.42, -35.82, -19.22, -2.0, -0.3}) {
      const double gamma = 1 - without;
      const long double expected =
          std::log((1 - static_cast<long double>(gamma)) +
                   static_cast<long double>(gamma) * std::exp(static_cast<long double>(l)));
      EXPECT_NEAR(sampled_loss(l, gamma), static_cast<double>(expected), 1e-14 * std::abs(l))
          << without << " " << l;
    }
  }
}

// Draws of one in a hundred million that lose 2000: δ is all but what they are likely.
TEST(FewLosses, RareDrawsBesideNoiseAreBoundedUpToTheLastOfDelta) {
  const LossLaw rare = sampled_law(approximate_law(2000, 0), 1e-8);
  const PrivacyProfile profile({used(gaussian_law(std::sqrt(50.0) / 100), 1), used(rare, 1000)});
  const CertifiedInterval at = profile.epsilon(1e-5, 1e-3);
  EXPECT_LT(at.upper, 0.5);
  EXPECT_GT(at.lower, at.upper * (1 - 1e-3));
  // 1 − (1 − 10⁻⁸)¹⁰⁰⁰ is 5·10⁻¹¹ less than 10⁻⁵: so much is left for the noise.
  EXPECT_NEAR(at.upper, gaussian_epsilon_upper(std::sqrt(50.0) / 100, Delta(4.995e-11)), 1e-3);
  // The same by a grid, where three-valued losses are too many.
  const PrivacyProfile by_grid({used(gaussian_law(std::sqrt(50.0) / 100), 1),
                                used(sampled_law(randomized_response_law(2000, 3), 1e-8), 1000)});
  EXPECT_LT(by_grid.epsilon(1e-5, 1e-2).upper, 0.5);
}

}  // namespace sotto::few_losses_test
