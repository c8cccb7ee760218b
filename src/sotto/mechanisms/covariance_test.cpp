#include "sotto/mechanisms/covariance.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "sotto/core/plan.hpp"
#include "sotto/core/record_replay.hpp"
#include "support/statistics.hpp"

namespace sotto::covariance_test {

static_assert(Plan<CovariancePlan>);
using Pairs = std::vector<std::pair<double, double>>;
constexpr Relation kRelations[] = {Relation::add_remove, Relation::replace_one, Relation::zero_out};

CovariancePlan plan_of(Relation relation, const Budget& budget, std::uint64_t contributions = 1) {
  return CovariancePlan({.relation = relation,
                         .first = {-2, 6},
                         .second = {0, 100},
                         .budget = budget,
                         .contributions = contributions});
}

Release<CovarianceFigures> run(const CovariancePlan& plan, const Pairs& pairs, Rng& rng) {
  CovarianceAccumulator sums = plan.start();
  for (const auto& [x, y] : pairs) sums.add(x, y);
  return std::move(sums).finish(rng);
}

Pairs sample(std::size_t n) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  Pairs pairs;
  for (std::size_t i = 0; i < n; ++i) {
    const double z = normal(random);
    pairs.emplace_back(2 + z * 0.7, 50 + 8 * (0.6 * z + 0.8 * normal(random)));
  }
  return pairs;
}

TEST(Covariance, KnownAnswerWithLittleNoise) {
  const Pairs pairs = sample(20000);
  double mx = 0, my = 0, xy = 0, xx = 0, yy = 0;
  for (const auto& [x, y] : pairs) mx += x / 20000, my += y / 20000;
  for (const auto& [x, y] : pairs) {
    xy += (x - mx) * (y - my) / 20000;
    xx += (x - mx) * (x - mx) / 20000;
    yy += (y - my) * (y - my) / 20000;
  }
  for (const Relation relation : kRelations) {
    for (const Budget& budget : {Budget::pure(500), Budget::zcdp(1e4)}) {
      Rng rng = Rng::insecure_seed(5);
      const CovarianceFigures f = run(plan_of(relation, budget), pairs, rng).value;
      EXPECT_NEAR(f.covariance.value, xy, 0.02);
      ASSERT_TRUE(f.correlation.has_value());
      EXPECT_NEAR(f.correlation->value, xy / std::sqrt(xx * yy), 0.005);
    }
  }
}

// The neighbours that move most, and whatever a file may hold.
TEST(Covariance, NeighboursReplayWithinTheSensitivity) {
  const std::vector<std::pair<double, double>> corners = {
      {-2, 0}, {6, 100}, {-2, 100}, {6, 0},   {2, 50},       {1e300, -1e300},
      {2, 0},  {6, 50},  {-9, 999}, {NAN, 3}, {INFINITY, -5}};
  const Pairs base = sample(20);
  for (const Relation relation : kRelations) {
    for (const Budget& budget :
         {Budget::pure(0.5), Budget::zcdp(0.1), Budget::approximate(1, 1e-6), Budget::pure(30)}) {
      const CovariancePlan plan = plan_of(relation, budget);
      for (const auto& a : corners) {
        for (const auto& b : corners) {
          Pairs one = base, other = base;
          one.push_back(a);
          if (relation == Relation::replace_one) other.push_back(b);
          if (relation == Relation::zero_out) other.emplace_back(NAN, NAN);
          const auto on = [&](const Pairs& pairs) {
            return [&](Rng& rng) -> std::optional<Event> { return run(plan, pairs, rng).event; };
          };
          EXPECT_EQ(replay::check_neighbours(on(one), on(other)), "");
        }
      }
    }
  }
}

// Three records of one user go; and the mutant that pays for one is found.
TEST(Covariance, ContributionsArePaidFor) {
  Pairs one = sample(5), other = one;
  for (int i = 0; i < 3; ++i) one.emplace_back(6, 100);
  const auto on = [](const CovariancePlan& plan, const Pairs& pairs) {
    return [&](Rng& rng) -> std::optional<Event> { return run(plan, pairs, rng).event; };
  };
  const CovariancePlan three = plan_of(Relation::add_remove, Budget::pure(1), 3),
                       mutant = plan_of(Relation::add_remove, Budget::pure(1), 1);
  EXPECT_EQ(replay::check_neighbours(on(three, one), on(three, other)), "");
  EXPECT_NE(replay::check_neighbours(on(mutant, one), on(mutant, other)), "");
}

// How far off the answers are is what the interval says: 95 in 100, with room for luck at 1e-6.
TEST(Covariance, IntervalsHold) {
  const Pairs pairs = sample(4000);
  Rng quiet = Rng::insecure_seed(1);
  const double truth =
      run(plan_of(Relation::add_remove, Budget::zcdp(1e6)), pairs, quiet).value.covariance.value;
  const CovariancePlan plan = plan_of(Relation::add_remove, Budget::zcdp(0.5));
  int inside = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Rng rng = Rng::insecure_seed(seed);
    const Statistic s = run(plan, pairs, rng).value.covariance;
    inside += std::fabs(s.value - truth) <= *s.noise.half_width_95 ? 1 : 0;
  }
  EXPECT_GE(inside, 355);  // the mean is 380, the deviation 4.4
  EXPECT_LE(inside, 399);
}

TEST(Covariance, DrownedVariancesGiveNoCorrelation) {
  Rng rng = Rng::insecure_seed(2);
  EXPECT_FALSE(run(plan_of(Relation::add_remove, Budget::pure(0.01)), sample(3), rng)
                   .value.correlation.has_value());
}

}  // namespace sotto::covariance_test
