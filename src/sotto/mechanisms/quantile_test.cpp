#include "sotto/mechanisms/quantile.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "sotto/core/plan.hpp"
#include "sotto/core/record_replay.hpp"
#include "sotto/mechanisms/bounds_estimate.hpp"
#include "sotto/mechanisms/hostile_data_test.hpp"
#include "support/statistics.hpp"

namespace sotto::quantile_test {

using test::kAlpha;
static_assert(Plan<QuantilePlan> && Plan<BoundsPlan>);

const Relation kRelations[] = {Relation::add_remove, Relation::replace_one, Relation::zero_out};

// The exact law on the grid 0..points−1 with spacing 1.
std::vector<double> exact_law(const std::vector<int>& data, double p, double epsilon,
                              Relation relation, int points) {
  const double sensitivity = relation == Relation::replace_one ? 1 : std::max(p, 1 - p);
  const auto n = static_cast<double>(data.size());
  std::vector<double> law;
  double total = 0;
  for (int o = 0; o < points; ++o) {
    double below = 0, above = 0;
    for (int x : data) below += x<o, above += x> o;
    law.push_back(std::exp(-epsilon / (2 * sensitivity) *
                           std::max({below - p * n, above - (1 - p) * n, 0.0})));
    total += law.back();
  }
  for (double& w : law) w /= total;
  return law;
}

TEST(Quantile, UnderZeroOutWhatIsNotFiniteIsNotCounted) {
  for (const NonFinite policy : {NonFinite::refuse, NonFinite::midpoint}) {
    const QuantilePlan plan({Relation::zero_out, Bounds(0, 15), 0.3, Budget::pure(1), policy, 1});
    for (std::uint64_t seed = 1; seed < 100; ++seed) {
      Rng a = Rng::insecure_seed(seed), b = Rng::insecure_seed(seed);
      EXPECT_EQ(plan.run(std::vector<double>{NAN, 2, HUGE_VAL, 9}, a).value.value,
                plan.run(std::vector<double>{2, 9}, b).value.value);
    }
  }
}

TEST(Quantile, LawIsExactByChiSquare) {
  Rng rng = Rng::insecure_seed(1);
  const std::vector<int> data{0, 2, 2, 2, 5, 9, 15};
  const std::vector<double> records(data.begin(), data.end());
  for (Relation relation : kRelations) {
    for (double p : {0.0, 0.25, 0.5, 0.9}) {
      const QuantilePlan plan(
          {relation, Bounds(0, 15), p, Budget::pure(1.3), NonFinite::refuse, 1});
      const int n = 60000;
      std::vector<std::uint64_t> counts(16);
      for (int i = 0; i < n; ++i)
        ++counts[static_cast<std::size_t>(plan.run(records, rng).value.value)];
      EXPECT_GT(test::chi_square_p(counts, exact_law(data, p, 1.3, relation, 16), n), kAlpha) << p;
      EXPECT_LT(test::chi_square_p(counts, exact_law(data, p, 1.9, relation, 16), n), kAlpha)
          << "mutant, p = " << p;
    }
  }
}

// All data sets of up to three records on a grid of five points, all neighbours: ratios within e^ε,
// and range within ε.
TEST(Quantile, ExactLikelihoodRatiosAndRangeStayWithinEpsilon) {
  const double epsilon = 1;
  const int points = 5;
  for (Relation relation : kRelations) {
    for (double p : {0.1, 0.5, 0.75}) {
      auto check = [&](const std::vector<int>& a, const std::vector<int>& b) {
        const auto x = exact_law(a, p, epsilon, relation, points),
                   y = exact_law(b, p, epsilon, relation, points);
        double low = 1e9, high = -1e9;
        for (int o = 0; o < points; ++o) {
          const double loss = std::log(x[o] / y[o]);
          low = std::min(low, loss);
          high = std::max(high, loss);
        }
        ASSERT_LE(std::max(high, -low), epsilon * (1 + 1e-12));
        ASSERT_LE(high - low, epsilon * (1 + 1e-12));
      };
      for (int i = 0; i < 125; ++i) {
        const std::vector<int> data{i % 5, i / 5 % 5, i / 25};
        for (int r = 0; r < 5; ++r) {
          std::vector<int> other = data;
          if (relation == Relation::replace_one) {
            other[0] = r;
          } else {
            other.erase(other.begin());
          }
          check(data, other);
        }
      }
    }
  }
}

TEST(Quantile, ReplayOnHostileNeighboursMovesTheScoresByAtMostTheSensitivity) {
  Rng pick = Rng::insecure_seed(12);
  for (Relation relation : kRelations) {
    for (auto [lower, upper] :
         {std::pair{0.0, 1.0}, {-1e150, 1e150}, {17.0, 90.0}, {1e-300, 2e-300}, {1e6, 1e6 + 1}}) {
      for (double p : {0.0, 0.01, 0.5, 1.0}) {
        const QuantilePlan plan({relation, Bounds(lower, upper), p, Budget::zcdp(0.1)});
        for (int trial = 0; trial < 20; ++trial) {
          const std::vector<double> data =
              test::hostile_data(pick, 1 + pick.next_u64() % 30, lower, upper);
          std::vector<double> other = data;
          if (relation == Relation::replace_one) {
            other[0] = test::hostile_value(pick, lower, upper);
          } else {
            other.erase(other.begin());
          }
          auto run = [&](const std::vector<double>& d) {
            return [&](Rng& rng) -> std::optional<Event> { return plan.run(d, rng).event; };
          };
          ASSERT_EQ(replay::check_neighbours(run(data), run(other)), "");
        }
      }
    }
  }
}

TEST(Quantile, FindsTheQuantilesOfALargeColumnAndSurvivesDuplicates) {
  Rng rng = Rng::insecure_seed(3);
  std::vector<double> uniform, ages(20000, 37);
  for (int i = 0; i < 20000; ++i) uniform.push_back(100 * test::uniform(rng));
  for (double p : {0.05, 0.5, 0.99}) {
    const QuantilePlan plan({Relation::add_remove, Bounds(0, 100), p, Budget::pure(1)});
    EXPECT_NEAR(plan.run(uniform, rng).value.value, 100 * p, 1.5);
    EXPECT_NEAR(plan.run(ages, rng).value.value, 37, 1e-3);
  }
}

TEST(Quantile, EventCostsAtMostTheBudgetForEveryKind) {
  for (double epsilon : {1e-5, 0.1, 1.0, 50.0}) {
    for (Relation relation : kRelations) {
      const Event event =
          QuantilePlan({relation, Bounds(0, 1), 0.3, Budget::pure(epsilon)}).event();
      EXPECT_LE(event.get_if<ExponentialEvent>()->epsilon, epsilon);
      EXPECT_GT(event.get_if<ExponentialEvent>()->epsilon, epsilon * (1 - 1e-5));
    }
  }
  const Event event =
      QuantilePlan({Relation::add_remove, Bounds(0, 1), 0.3, Budget::zcdp(0.5)}).event();
  const double e = event.get_if<ExponentialEvent>()->epsilon;
  EXPECT_LE(e * e / 8, 0.5);
}

TEST(Quantile, WorksWithoutRecordsAndRefusesSenselessOptions) {
  Rng rng = Rng::insecure_seed(4);
  const double v = QuantilePlan({Relation::add_remove, Bounds(-3, 5), 0.5, Budget::pure(1)})
                       .run({}, rng)
                       .value.value;
  EXPECT_GE(v, -3);
  EXPECT_LE(v, 5);
  EXPECT_THROW(QuantilePlan({Relation::add_remove, Bounds(0, 1), 1.2, Budget::pure(1)}),
               InvalidArgument);
  EXPECT_THROW(QuantilePlan({Relation::add_remove, Bounds(0, 1), NAN, Budget::pure(1)}),
               InvalidArgument);
  EXPECT_THROW(QuantilePlan({Relation::add_remove, Bounds(0, 1), 0.5, Budget::pure(1e-9)}),
               InvalidArgument);
  EXPECT_THROW(QuantilePlan({Relation::add_remove, Bounds(0, 1), 0.5, Budget::pure(1)})
                   .run(std::vector<double>{NAN}, rng),
               DataError);
}

TEST(BoundsEstimate, CoversTheBulkOfTheData) {
  Rng rng = Rng::insecure_seed(5);
  std::vector<double> data;
  for (int i = 0; i < 5000; ++i) data.push_back(1000 * test::uniform(rng) - 100);
  for (const Budget& budget : {Budget::pure(1), Budget::zcdp(0.5), Budget::approximate(1, 1e-6)}) {
    const auto bounds = BoundsPlan({Relation::add_remove, budget}).run(data, rng).value.bounds;
    ASSERT_TRUE(bounds.has_value());
    EXPECT_EQ(bounds->lower(), -128);
    EXPECT_EQ(bounds->upper(), 1024);
  }
}

TEST(BoundsEstimate, SaysNothingAboutTooFewRecordsWithTheStatedProbability) {
  Rng rng = Rng::insecure_seed(6);
  const BoundsPlan plan(
      {.relation = Relation::add_remove, .budget = Budget::pure(1), .false_alarm = 0.05});
  std::uint64_t alarms = 0;
  const int n = 5000;
  for (int i = 0; i < n; ++i) alarms += plan.run({}, rng).value.bounds.has_value();
  EXPECT_LE(test::clopper_pearson_lower(alarms, n, kAlpha), 0.05);
  EXPECT_GT(alarms, 0u);
}

TEST(BoundsEstimate, ReplayOnHostileNeighbours) {
  Rng pick = Rng::insecure_seed(13);
  for (Relation relation : kRelations) {
    const BoundsPlan plan({relation, Budget::pure(0.5)});
    for (int trial = 0; trial < 200; ++trial) {
      const std::vector<double> data = test::hostile_data(pick, 1 + pick.next_u64() % 10, -7, 1e5);
      std::vector<double> other = data;
      if (relation == Relation::replace_one) {
        other[0] = test::hostile_value(pick, -7, 1e5);
      } else {
        other.erase(other.begin());
      }
      auto run = [&](const std::vector<double>& d) {
        return [&](Rng& rng) -> std::optional<Event> { return plan.run(d, rng).event; };
      };
      ASSERT_EQ(replay::check_neighbours(run(data), run(other)), "");
    }
  }
}

}  // namespace sotto::quantile_test
