#include "sotto/learning/individual_filter.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "sotto/accounting/account.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/numeric/gaussian_dp.hpp"

namespace sotto::individual_filter_test {

constexpr std::uint64_t kFull = IndividualBudget::kFullStep;

// Steps that a record of this squared share takes part in, of many.
std::uint64_t steps_taken(const IndividualBudget& budget, double squared_share) {
  IndividualFilter filter(budget, 1);
  std::uint64_t taken = 0;
  for (int t = 0; t < 100000; ++t)
    taken += filter.admit(0, IndividualBudget::charge(squared_share)) ? 1 : 0;
  return taken;
}

TEST(IndividualFilter, OrderEightNoiseFourNormOneHalfAllowsSixteenSteps) {
  // 8·0.5²/(2·4²) = 0.0625 a step [FZ21]; a divergence of 1 pays for 16 of them.
  EXPECT_EQ(steps_taken(IndividualBudget::for_renyi(8, 1, 4), 0.25), 16u);
  EXPECT_EQ(steps_taken(IndividualBudget::for_renyi(8, 1, 4), 1), 4u);
  // The same as zCDP (ρ = 1/8) and as GDP (μ = 1/2).
  EXPECT_EQ(steps_taken(IndividualBudget::for_zcdp(0.125, 4), 0.25), 16u);
  EXPECT_NEAR(IndividualBudget::for_gdp(0.5, 4).full_steps(), 4, 1e-8);
}

TEST(IndividualFilter, DropShortensNothing) {
  IndividualFilter filter(IndividualBudget(2.5), 1, OverBudget::drop);
  const auto shorten = [](double) -> std::uint64_t {
    ADD_FAILURE() << "shortened";
    return 1;
  };
  EXPECT_TRUE(filter.admit(0, kFull, shorten));
  EXPECT_TRUE(filter.admit(0, kFull, shorten));
  EXPECT_FALSE(filter.admit(0, kFull, shorten));
  EXPECT_TRUE(filter.admit(0, kFull / 2, shorten));  // what still fits
  EXPECT_FALSE(filter.admit(0, 1, shorten));
}

TEST(IndividualFilter, ChargesRoundUpAndLimitsDown) {
  EXPECT_EQ(IndividualBudget::charge(0), 0u);
  EXPECT_EQ(IndividualBudget::charge(1e-30), 1u);
  EXPECT_EQ(IndividualBudget::charge(0.25), kFull / 4);
  EXPECT_EQ(IndividualBudget::charge(std::nextafter(0.25, 1)), kFull / 4 + 1);
  EXPECT_EQ(IndividualBudget::charge(2), kFull);
  EXPECT_EQ(IndividualBudget::charge(std::numeric_limits<double>::quiet_NaN()), kFull);
  EXPECT_EQ(IndividualBudget(1 + 0x1p-33).limit(), kFull);
  EXPECT_LE(IndividualBudget::for_gdp(0.3, 7.7).full_steps(), 0.3 * 0.3 * 7.7 * 7.7);
}

TEST(IndividualFilter, NobodyOverspendsHoweverTheNormsAlternate) {
  // An adversary who sees all and chooses the next norm: short ones until little is left, then long
  // ones; long ones that are refused between short ones; at random.
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (const double steps : {1.0, 1.7, 5.25, 40.0}) {
    const IndividualBudget budget(steps);
    IndividualFilter filter(budget, 3);
    double spent[3] = {};
    for (int t = 0; t < 4000; ++t) {
      const double shares[3] = {t % 2 == 0 ? 1e-6 : 1.0, t < 100 ? 0.009 : 1.0, uniform(random)};
      for (std::size_t i = 0; i < 3; ++i) {
        if (filter.admit(i, IndividualBudget::charge(shares[i]))) spent[i] += shares[i];
        ASSERT_LE(filter.private_spent()[i], budget.limit());
      }
    }
    for (const double s : spent) {
      EXPECT_LE(s, budget.full_steps() * (1 + 1e-12));
      EXPECT_GT(s, budget.full_steps() - 1);
    }
  }
}

TEST(IndividualFilter, ShorteningLeavesSomethingForEveryStep) {
  const IndividualBudget budget(4);
  IndividualFilter filter(budget, 1, OverBudget::shorten);
  double least = 1;
  for (std::uint64_t left = 16; left > 0; --left) {
    filter.begin_step(left);
    double share = 0.9;
    ASSERT_TRUE(filter.admit(0, IndividualBudget::charge(share), [&](double factor) {
      share *= factor * factor * (1 - 1e-9);
      return IndividualBudget::charge(share);
    }));
    ASSERT_LE(filter.private_spent()[0], budget.limit());
    least = std::min(least, share);
  }
  EXPECT_GT(least, 0.02);
  EXPECT_GT(static_cast<double>(filter.private_spent()[0]),
            0.95 * static_cast<double>(budget.limit()));
  // A shortening that does not shorten is left out, not believed.
  IndividualFilter other(IndividualBudget(1), 1, OverBudget::shorten);
  for (int t = 0; t < 3; ++t) other.admit(0, kFull, [](double) { return kFull; });
  EXPECT_EQ(other.private_spent()[0], kFull);
}

TEST(IndividualFilter, MutantsOverspend) {
  // What the test above would say of a filter that drops nobody, and of one that rounds down.
  const IndividualBudget budget(2);
  double without_drops = 0, rounded_down = 0;
  std::uint64_t charged = 0;
  const double tiny = 0.9 / static_cast<double>(kFull);
  for (int t = 0; t < 10; ++t) without_drops += 0.5;
  for (double t = 0; t < 0x1p35; t += 0x1p30) {  // so many steps at once
    charged += static_cast<std::uint64_t>(tiny * static_cast<double>(kFull));
    rounded_down += tiny * 0x1p30;
  }
  EXPECT_GT(without_drops, budget.full_steps());
  EXPECT_EQ(charged, 0u);
  EXPECT_GT(rounded_down, budget.full_steps());
  EXPECT_GE(static_cast<double>(IndividualBudget::charge(tiny)) / static_cast<double>(kFull), tiny);
}

TEST(IndividualFilter, RefusesBudgetsBelowOneStepOfFullNorm) {
  EXPECT_THROW(IndividualBudget(0.99), InvalidArgument);
  EXPECT_THROW(IndividualBudget(0x1p31), InvalidArgument);
  EXPECT_THROW(IndividualBudget(std::numeric_limits<double>::quiet_NaN()), InvalidArgument);
}

TEST(IndividualFilter, TheEventIsThatOfOneGaussianAndALittleMore) {
  for (const double mu : {0.05, 0.5, 2.0}) {
    for (const Relation relation : {Relation::add_remove, Relation::replace_one}) {
      const Event event = filtered_gaussian_event(mu, 0x1p40, 1e6);
      const Bound bound = epsilon(Spec{relation, {event}}, Delta(1e-6));
      const double exact = gaussian_epsilon_upper(mu, Delta(1e-6));
      EXPECT_GE(bound.upper, exact);
      EXPECT_LE(bound.upper, exact * 1.0001);
    }
  }
}

TEST(IndividualFilter, WhereTheLatticeIsCoarseOnlyConcentratedPrivacyIsClaimed) {
  for (const auto& [sigma, coordinates] : {std::pair{3.0, 1.0}, std::pair{0x1p20, 1e9}}) {
    const Event event = filtered_gaussian_event(0.5, sigma, coordinates);
    ASSERT_NE(event.get_if<ZcdpEvent>(), nullptr);
    EXPECT_GE(event.get_if<ZcdpEvent>()->rho, 0.125);
  }
}

// δ at ε of an adaptive strategy, by integration: the next of two steps has one of two lengths
// depending on the first result; the third takes up what is left. Never above that of one Gaussian
// with all of the budget.
TEST(IndividualFilter, AnAdaptiveStrategyNeverBeatsOneGaussianOfTheWholeBudget) {
  const double sigma = 1, b2 = 1;  // Σ c² ≤ 1
  for (const double cut : {-0.5, 0.3, 1.0}) {
    for (const double epsilon : {0.2, 1.0, 3.0}) {
      // First step of c₁² = 0.3; if the first loss is above `cut`, all the rest at once, else only
      // half of it. The loss of a Gaussian at distance c is N(c²/2, c²).
      const double first = 0.3;
      double delta = 0;
      const int n = 4000;
      for (int i = 0; i < n; ++i) {
        const double z = -10 + 20.0 * (i + 0.5) / n;
        const double loss = std::sqrt(first) * z + first / 2;
        const double rest = (b2 - first) * (loss > cut ? 1.0 : 0.5);
        const double mu = std::sqrt(rest) / sigma, e = epsilon - loss;
        const auto cdf = [](double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; };
        const double part = cdf(-e / mu + mu / 2) - std::exp(e) * cdf(-e / mu - mu / 2);
        delta += part * std::exp(-z * z / 2) / std::sqrt(2 * M_PI) * 20.0 / n;
      }
      const auto cdf = [](double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; };
      EXPECT_LE(delta, cdf(-epsilon + 0.5) - std::exp(epsilon) * cdf(-epsilon - 0.5) + 1e-6);
    }
  }
}

}  // namespace sotto::individual_filter_test
