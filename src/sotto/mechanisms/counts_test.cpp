#include "sotto/mechanisms/counts.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sotto/core/plan.hpp"
#include "sotto/core/record_replay.hpp"
#include "sotto/mechanisms/stability_histogram.hpp"
#include "support/statistics.hpp"

namespace sotto::counts_test {

using test::kAlpha;
static_assert(Plan<CountPlan> && Plan<HistogramPlan> && Plan<StabilityHistogramPlan>);

const Relation kRelations[] = {Relation::add_remove, Relation::replace_one, Relation::zero_out};
std::vector<Budget> budgets() {
  return {Budget::pure(0.5), Budget::zcdp(0.05), Budget::approximate(1, 1e-8)};
}

TEST(Count, LawIsExactByChiSquare) {
  Rng rng = Rng::insecure_seed(1);
  const CountPlan plan({Relation::add_remove, Budget::pure(0.7)});
  const int n = 200000;
  std::vector<std::uint64_t> counts(41);
  for (int i = 0; i < n; ++i) {
    const int z = static_cast<int>(plan.run(1000, rng).value.value) - 1000;
    if (std::abs(z) <= 20) ++counts[z + 20];
  }
  auto law = [](double epsilon) {
    std::vector<double> p;
    const double q = std::exp(-epsilon);
    for (int z = -20; z <= 20; ++z) p.push_back((1 - q) / (1 + q) * std::pow(q, std::abs(z)));
    return p;
  };
  EXPECT_GT(test::chi_square_p(counts, law(0.7), n), kAlpha);
  EXPECT_LT(test::chi_square_p(counts, law(0.73), n), kAlpha) << "mutant: scale off by 4 %";
}

TEST(Count, ReplayOnNeighboursDiffersByAtMostOneRecord) {
  for (Relation relation : kRelations) {
    for (const Budget& budget : budgets()) {
      const CountPlan plan({relation, budget});
      auto run = [&](std::uint64_t count) {
        return
            [&plan, count](Rng& rng) -> std::optional<Event> { return plan.run(count, rng).event; };
      };
      EXPECT_EQ(replay::check_neighbours(run(41), run(42)), "");
      EXPECT_NE(replay::check_neighbours(run(41), run(43)), "") << "two records must be caught";
    }
  }
}

TEST(Count, IsWholeAndNotNegativeUnlessAskedFor) {
  Rng rng = Rng::insecure_seed(2);
  for (const Budget& budget : budgets()) {
    bool negative = false;
    for (int i = 0; i < 100; ++i) {
      const double v = CountPlan({Relation::add_remove, budget}).run(0, rng).value.value;
      EXPECT_GE(v, 0);
      EXPECT_EQ(v, std::floor(v));
      negative =
          negative || CountPlan({Relation::add_remove, budget, true}).run(0, rng).value.value < 0;
    }
    EXPECT_TRUE(negative);
  }
}

TEST(Histogram, SensitivityFollowsTheRelation) {
  for (Relation relation : kRelations) {
    const bool replace = relation == Relation::replace_one;
    const Event laplace = HistogramPlan({relation, {"a", "b", "c"}, Budget::pure(1)}).event();
    const auto* l = laplace.get_if<DiscreteLaplaceEvent>();
    EXPECT_EQ(l->sensitivity, replace ? 2 : 1);
    EXPECT_EQ(l->granularity, 1);
    EXPECT_EQ(l->dimension, 3u);
    const Event gaussian = HistogramPlan({relation, {"a", "b", "c"}, Budget::zcdp(1)}).event();
    EXPECT_NEAR(gaussian.get_if<DiscreteGaussianEvent>()->sensitivity, replace ? std::sqrt(2) : 1,
                1e-12);
  }
}

TEST(Histogram, ReplayOnEveryPairOfNeighbours) {
  const std::vector<std::string> categories{"a", "b", "c"};
  for (Relation relation : kRelations) {
    for (const Budget& budget : budgets()) {
      const HistogramPlan plan({relation, categories, budget, UnknownCategory::ignore});
      auto run = [&](std::vector<std::string> data) {
        return [&plan, data](Rng& rng) -> std::optional<Event> {
          HistogramAccumulator accumulator = plan.start();
          for (const std::string& x : data) accumulator.add(x);
          return std::move(accumulator).finish(rng).event;
        };
      };
      const std::vector<std::string> rest{"a", "b", "b", "zzz"};
      for (const std::string from : {"a", "b", "c", "unknown"}) {
        std::vector<std::string> data = rest;
        data.push_back(from);
        EXPECT_EQ(replay::check_neighbours(run(data), run(rest)), "");
        if (relation != Relation::replace_one) continue;
        for (const std::string to : {"a", "b", "c", "unknown"}) {
          std::vector<std::string> other = rest;
          other.push_back(to);
          EXPECT_EQ(replay::check_neighbours(run(data), run(other)), "");
        }
      }
    }
  }
}

TEST(Histogram, TreatsUndeclaredCategoriesByPolicy) {
  Rng rng = Rng::insecure_seed(4);
  HistogramAccumulator strict =
      HistogramPlan({Relation::add_remove, {"a"}, Budget::pure(1)}).start();
  strict.add("a");
  EXPECT_THROW(strict.add("b"), DataError);
  HistogramAccumulator other =
      HistogramPlan(
          {Relation::add_remove, {"a", "rest"}, Budget::pure(500), UnknownCategory::refuse, "rest"})
          .start();
  for (int i = 0; i < 9; ++i) other.add("b");
  EXPECT_EQ(std::move(other).finish(rng).value.counts, (std::vector<double>{0, 9}));
  EXPECT_THROW(HistogramPlan({Relation::add_remove, {"a", "a"}, Budget::pure(1)}), InvalidArgument);
  EXPECT_THROW(HistogramPlan({Relation::add_remove, {}, Budget::pure(1)}), InvalidArgument);
  EXPECT_THROW(HistogramPlan(
                   {Relation::add_remove, {"a"}, Budget::pure(1), UnknownCategory::ignore, "rest"}),
               InvalidArgument);
}

TEST(Histogram, PartialCountsMerge) {
  Rng rng = Rng::insecure_seed(4);
  const HistogramPlan plan({Relation::add_remove, {"a", "b"}, Budget::pure(500)});
  HistogramAccumulator one = plan.start(), two = plan.start();
  one.add("a");
  two.add("b");
  two.add("b");
  one.merge(two);
  EXPECT_EQ(std::move(one).finish(rng).value.counts, (std::vector<double>{1, 2}));
}

// P(a category with one record is released) for the law the plan samples; must be at most δ, and
// not absurdly far below.
TEST(StabilityHistogram, ThresholdHidesASingleRecordUpToDelta) {
  for (Relation relation : kRelations) {
    for (double epsilon : {0.05, 0.5, 1.0, 4.0, 30.0}) {
      for (double delta : {0.3, 1e-3, 1e-6, 1e-12, 1e-40}) {
        const StabilityHistogramPlan plan(relation, Epsilon(epsilon), Delta(delta));
        const long double b = plan.noise().scale_in_steps(), m = plan.threshold() - 1;
        const long double passes = std::exp(-m / b) / (1 + std::exp(-1 / b));
        EXPECT_LE(passes, static_cast<long double>(delta));
        EXPECT_GT(passes, delta * std::exp(-3.0L / b));
      }
    }
  }
}

// A unit with c records can bring c categories with up to c records each.
TEST(StabilityHistogram, ThresholdHidesAUnitWithManyRecordsUpToDelta) {
  for (Relation relation : kRelations) {
    for (std::uint64_t c : {2u, 7u}) {
      const StabilityHistogramPlan one(relation, Epsilon(1), Delta(1e-6)),
          many(relation, Epsilon(1), Delta(1e-6), c);
      EXPECT_DOUBLE_EQ(many.noise().scale(), static_cast<double>(c) * one.noise().scale());
      const long double b = many.noise().scale_in_steps();
      const long double m = many.threshold() - static_cast<double>(c);
      const long double any = c * std::exp(-m / b) / (1 + std::exp(-1 / b));
      EXPECT_LE(any, 1e-6L);
      EXPECT_GT(any, 1e-6L * std::exp(-3.0L / b));
    }
  }
}

TEST(StabilityHistogram, ReleasesSingletonsAtTheStatedRateAndCommonCategoriesAlways) {
  Rng rng = Rng::insecure_seed(6);
  const StabilityHistogramPlan plan(Relation::add_remove, Epsilon(1), Delta(0.01));
  const double b = 1, m = plan.threshold() - 1, passes = std::exp(-m / b) / (1 + std::exp(-1 / b));
  std::uint64_t singles = 0;
  const int n = 50000;
  for (int i = 0; i < n; ++i) {
    StabilityHistogramAccumulator accumulator = plan.start();
    accumulator.add("rare");
    for (int j = 0; j < 100; ++j) accumulator.add("common");
    const Histogram h = std::move(accumulator).finish(rng).value;
    ASSERT_FALSE(h.categories.empty());
    EXPECT_EQ(h.categories.front(), "common");
    singles += h.categories.size() == 2;
    for (double c : h.counts) EXPECT_GE(c, plan.threshold());
  }
  EXPECT_GT(test::binomial_p(singles, n, passes), kAlpha);
  EXPECT_LT(test::binomial_p(singles, n, passes * 2), kAlpha) << "mutant: threshold too low";
  EXPECT_LE(test::clopper_pearson_lower(singles, n, kAlpha), 0.01);
}

// Exact hockey-stick divergence on a tiny universe: two categories, up to three records, all
// neighbours, both directions.
TEST(StabilityHistogram, ExactLawIsWithinEpsilonDelta) {
  const double delta = 0.02;
  for (Relation relation : kRelations) {
    for (double epsilon : {0.3, 1.0}) {
      const StabilityHistogramPlan plan(relation, Epsilon(epsilon), Delta(delta));
      const double q = std::exp(-1 / plan.noise().scale_in_steps());
      const int tau = static_cast<int>(plan.threshold()), cells = 400;
      // Law of one category: index 0 = not released, i = released as tau + i − 1.
      auto law = [&](int count) {
        std::vector<double> p(cells + 1);
        p[0] = 1;
        if (count == 0) return p;
        for (int i = 1; i <= cells; ++i) {
          p[i] = (1 - q) / (1 + q) * std::pow(q, std::abs(tau + i - 1 - count));
          p[0] -= p[i];
        }
        return p;
      };
      auto divergence = [&](int a, int b, int a2, int b2) {
        const auto x = law(a), y = law(b), x2 = law(a2), y2 = law(b2);
        double total = 0;
        for (int i = 0; i <= cells; ++i) {
          for (int j = 0; j <= cells; ++j)
            total += std::max(0.0, x[i] * y[j] - std::exp(epsilon) * x2[i] * y2[j]);
        }
        return total;
      };
      double worst = 0;
      for (int a = 0; a <= 2; ++a) {
        for (int b = 0; b <= 2; ++b) {
          if (relation == Relation::replace_one) {
            if (a > 0) worst = std::max(worst, divergence(a, b, a - 1, b + 1));
            if (b > 0) worst = std::max(worst, divergence(a, b, a + 1, b - 1));
          } else {
            worst = std::max({worst, divergence(a + 1, b, a, b), divergence(a, b, a + 1, b)});
          }
        }
      }
      EXPECT_LE(worst, delta) << name(relation) << " " << epsilon;
      EXPECT_GT(worst, 0);
    }
  }
}

}  // namespace sotto::counts_test
