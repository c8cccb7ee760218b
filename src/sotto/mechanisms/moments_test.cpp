#include "sotto/mechanisms/moments.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <thread>

#include "sotto/core/plan.hpp"
#include "sotto/core/record_replay.hpp"
#include "sotto/mechanisms/hostile_data_test.hpp"
#include "sotto/noise/grid.hpp"
#include "support/statistics.hpp"

namespace sotto::moments_test {

using test::kAlpha;
static_assert(Plan<MomentPlan>);

const Relation kRelations[] = {Relation::add_remove, Relation::replace_one, Relation::zero_out};
const Moment kMoments[] = {Moment::sum, Moment::mean, Moment::variance};
std::vector<Budget> budgets() {
  return {Budget::pure(0.5), Budget::pure(40), Budget::zcdp(0.05), Budget::zcdp(2),
          Budget::approximate(1, 1e-8)};
}

// A record that may be null, so that all three relations can be played.
using Records = std::vector<std::optional<double>>;

auto run_on(const MomentPlan& plan, const Records& records) {
  return [&plan, &records](Rng& rng) -> std::optional<Event> {
    MomentAccumulator accumulator = plan.start();
    for (const auto& x : records) x ? accumulator.add(*x) : accumulator.add_null();
    return std::move(accumulator).finish(rng).event;
  };
}

// The neighbour of `records` at place i.
Records neighbour(Records records, std::size_t i, Relation relation, double replacement) {
  if (relation == Relation::add_remove) {
    records.erase(records.begin() + static_cast<std::ptrdiff_t>(i));
  } else if (relation == Relation::replace_one) {
    records[i] = replacement;
  } else {
    records[i].reset();
  }
  return records;
}

const std::pair<double, double> kBounds[] = {
    {0, 1},           {17, 90},           {-1, 1},     {-5, 3},    {1e6, 1e6 + 1},  {-1e150, 2e150},
    {1e-250, 2e-250}, {-0x1p-30, 0x1p40}, {-3, -2.75}, {0.1, 0.3}, {1e9, 1e9 + 0.5}};

TEST(Moments, ReplayOnHostileNeighboursNeverMovesAnythingByMoreThanDeclared) {
  Rng pick = Rng::insecure_seed(77);
  int checked = 0;
  for (Relation relation : kRelations) {
    for (Moment moment : kMoments) {
      for (const Budget& budget : budgets()) {
        for (auto [lower, upper] : kBounds) {
          const MomentPlan plan(moment, {relation, Bounds(lower, upper), budget});
          for (int trial = 0; trial < 12; ++trial) {
            Records records;
            for (double x : test::hostile_data(pick, 1 + pick.next_u64() % 9, lower, upper))
              records.emplace_back(x);
            const std::size_t at = pick.next_u64() % records.size();
            const Records other =
                neighbour(records, at, relation, test::hostile_value(pick, lower, upper));
            ASSERT_EQ(replay::check_neighbours(run_on(plan, records), run_on(plan, other)), "")
                << plan.describe() << " bounds " << lower << " " << upper;
            ++checked;
          }
        }
      }
    }
  }
  EXPECT_EQ(checked, 3 * 3 * 5 * 11 * 12);
}

// The declared sensitivity is not only safe but reached: for every plan some pair of neighbours
// moves the query by ≥ 99.9 % of it.
TEST(Moments, DeclaredSensitivityIsTight) {
  for (Relation relation : kRelations) {
    for (Moment moment : kMoments) {
      for (const Budget& budget : {Budget::pure(1), Budget::zcdp(0.5)}) {
        const MomentPlan plan(moment, {relation, Bounds(-2, 6), budget});
        long double largest = 0, declared = 0;
        for (double a : {-2.0, 2.0, 6.0}) {
          for (double b : {-2.0, 2.0, 6.0}) {
            const Records records{a, 1.0}, other = neighbour(records, 0, relation, b);
            const auto x = replay::record(1, run_on(plan, records)),
                       y = replay::record(1, run_on(plan, other));
            declared = x.queries[0].sensitivity;
            largest =
                std::max(largest, replay::norm_of_difference(
                                      x.queries[0].values, y.queries[0].values, x.queries[0].norm));
          }
        }
        EXPECT_GE(largest, 0.999L * declared) << plan.describe();
      }
    }
  }
}

TEST(GridColumn, PutsEveryValueWhereTheGridPutsIt) {
  Rng pick = Rng::insecure_seed(8);
  for (auto [lower, upper] : kBounds) {
    for (double epsilon : {0.01, 1.0, 1000.0}) {
      const double largest = std::max(std::fabs(lower), std::fabs(upper));
      const double g = std::max(granularity_for((upper - lower) / epsilon),
                                std::ldexp(1.0, std::ilogb(largest) - 60));
      const GridColumn column(Bounds(lower, upper), g, NonFinite::refuse);
      auto check = [&](double x) {
        ASSERT_EQ(column.steps(x, 1),
                  static_cast<std::int64_t>(to_grid(std::clamp(x, lower, upper), g)))
            << x;
      };
      for (double x : test::hostile_data(pick, 500, lower, upper)) check(x);
      for (int k = -50; k < 50; ++k) {  // half-way points and their neighbours
        const double half = (k + 0.5) * g;
        check(half);
        check(std::nextafter(half, -HUGE_VAL));
        check(std::nextafter(half, HUGE_VAL));
      }
    }
  }
}

TEST(Moments, SumsDoNotDependOnOrderOrThreads) {
  Rng pick = Rng::insecure_seed(5);
  std::vector<double> data = test::hostile_data(pick, 20000, -1e10, 1e10);
  for (Moment moment : kMoments) {
    const MomentPlan plan(moment, {Relation::add_remove, Bounds(-1e10, 1e10), Budget::zcdp(0.1)});
    MomentAccumulator sequential = plan.start();
    for (double x : data) sequential.add(x);
    MomentAccumulator shuffled = plan.start();
    std::mt19937 engine(3);
    std::shuffle(data.begin(), data.end(), engine);
    for (double x : data) shuffled.add(x);
    EXPECT_EQ(sequential.sum(), shuffled.sum());

    std::vector<MomentAccumulator> parts(4, plan.start());
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < parts.size(); ++t) {
      threads.emplace_back([&, t] {
        for (std::size_t i = t; i < data.size(); i += parts.size()) parts[t].add(data[i]);
      });
    }
    for (std::thread& thread : threads) thread.join();
    MomentAccumulator merged = plan.start();
    for (const MomentAccumulator& part : parts) merged.merge(part);
    EXPECT_EQ(sequential.sum(), merged.sum());
    Rng a = Rng::insecure_seed(1), b = Rng::insecure_seed(1);
    EXPECT_EQ(std::move(sequential).finish(a).value.value, std::move(merged).finish(b).value.value);
  }
}

TEST(Moments, AreCloseToTheTruthAndTheirNoiseIsAsLargeAsDescribed) {
  // 2000 records in [0, 100], mean 30, standard deviation about 17.
  Rng pick = Rng::insecure_seed(6);
  std::vector<double> data;
  for (int i = 0; i < 2000; ++i) data.push_back(60 * test::uniform(pick));
  double sum = 0, squares = 0;
  for (double x : data) sum += x, squares += x * x;
  const double n = static_cast<double>(data.size()), mean = sum / n;
  const double truth[] = {sum, mean, squares / n - mean * mean};
  for (Relation relation : kRelations) {
    for (Moment moment : kMoments) {
      for (const Budget& budget :
           {Budget::pure(1), Budget::zcdp(0.5), Budget::approximate(1, 1e-6)}) {
        const MomentPlan plan(moment, {relation, Bounds(0, 100), budget});
        MomentAccumulator full = plan.start();
        for (double x : data) full.add(x);
        Rng rng = Rng::insecure_seed(17);
        double error = 0, described = 0;
        const int runs = 3000;
        std::uint64_t inside = 0;
        for (int i = 0; i < runs; ++i) {
          const Statistic s = MomentAccumulator(full).finish(rng).value;
          const double e = s.value - truth[static_cast<int>(moment)];
          error += e * e;
          described += *s.noise.standard_deviation;
          inside += std::fabs(e) <= *s.noise.half_width_95;
        }
        // The standard error of a standard deviation over 3000 Laplace-like draws is about 2 %.
        EXPECT_NEAR(std::sqrt(error / runs) / (described / runs), 1, 0.11) << plan.describe();
        EXPECT_GT(test::clopper_pearson_upper(inside, runs, kAlpha), 0.95) << plan.describe();
      }
    }
  }
}

TEST(Moments, NoiseOnASumHasTheStatedLaw) {
  const MomentPlan plan = plan_sum({Relation::replace_one, Bounds(10, 14), Budget::pure(2)});
  MomentAccumulator full = plan.start();
  for (int i = 0; i < 100; ++i) full.add(12);
  Rng rng = Rng::insecure_seed(3);
  std::vector<double> noise;
  for (int i = 0; i < 30000; ++i)
    noise.push_back(MomentAccumulator(full).finish(rng).value.value - 1200);
  auto cdf = [](double b) {
    return [b](double x) { return x < 0 ? std::exp(x / b) / 2 : 1 - std::exp(-x / b) / 2; };
  };
  EXPECT_GT(test::ks_p(noise, cdf(2)), kAlpha);  // Δ = 14 − 10, ε = 2
  EXPECT_LT(test::ks_p(noise, cdf(2 * 0.92)), kAlpha) << "mutant: scale off by 8 %";
  EXPECT_LT(test::ks_p(noise, cdf(7)), kAlpha) << "mutant: the sensitivity of another relation";
}

TEST(Moments, SensitivityFollowsTheRelation) {
  auto sensitivity = [](Moment moment, Relation relation, const Budget& budget) {
    const Event event = MomentPlan(moment, {relation, Bounds(10, 14), budget}).event();
    if (const auto* e = event.get_if<DiscreteLaplaceEvent>()) return e->sensitivity;
    return event.get_if<DiscreteGaussianEvent>()->sensitivity;
  };
  const Budget pure = Budget::pure(1), rho = Budget::zcdp(1);
  EXPECT_NEAR(sensitivity(Moment::sum, Relation::add_remove, pure), 14, 1e-9);
  EXPECT_NEAR(sensitivity(Moment::sum, Relation::zero_out, pure), 14, 1e-9);
  EXPECT_NEAR(sensitivity(Moment::sum, Relation::replace_one, pure), 4, 1e-9);
  EXPECT_NEAR(sensitivity(Moment::mean, Relation::replace_one, pure), 4, 1e-9);
  EXPECT_NEAR(sensitivity(Moment::mean, Relation::zero_out, pure), 2, 1e-9);
  EXPECT_NEAR(sensitivity(Moment::mean, Relation::add_remove, pure), 4, 1e-9);
  EXPECT_NEAR(sensitivity(Moment::mean, Relation::add_remove, rho), std::sqrt(5), 1e-9);
  EXPECT_NEAR(sensitivity(Moment::variance, Relation::add_remove, pure), 2, 1e-9);
  EXPECT_NEAR(sensitivity(Moment::variance, Relation::replace_one, pure), 4, 1e-9);
}

// An attacker who knows all but one record of a mean with hidden n.
TEST(Moments, AuditOfAMeanStaysBelowTheClaimAndCatchesHalvedNoise) {
  auto audit = [](double epsilon) {
    const MomentPlan plan = plan_mean({Relation::add_remove, Bounds(0, 1), Budget::pure(epsilon)});
    MomentAccumulator without = plan.start(), with = plan.start();
    for (int i = 0; i < 3; ++i) without.add(0), with.add(0);
    with.add(1);
    Rng rng = Rng::insecure_seed(31);
    const std::uint64_t n = 60000;
    double best = 0;
    std::vector<double> a, b;
    for (std::uint64_t i = 0; i < n; ++i) {
      a.push_back(MomentAccumulator(with).finish(rng).value.value);
      b.push_back(MomentAccumulator(without).finish(rng).value.value);
    }
    for (double cut : {0.2, 0.5, 0.8}) {
      const auto above = [&](const std::vector<double>& v) {
        return static_cast<std::uint64_t>(
            std::count_if(v.begin(), v.end(), [&](double x) { return x > cut; }));
      };
      best = std::max(best, std::log(test::clopper_pearson_lower(above(a), n, kAlpha / 6) /
                                     test::clopper_pearson_upper(above(b), n, kAlpha / 6)));
    }
    return best;
  };
  EXPECT_LE(audit(1.0), 1.0);
  EXPECT_GT(audit(4.0), 1.0) << "mutant: a quarter of the noise";
}

TEST(Moments, NonFiniteRecordsAreRefusedByNumberOrCountAsTheMiddle) {
  Rng rng = Rng::insecure_seed(1);
  const MomentPlan strict = plan_mean({Relation::replace_one, Bounds(0, 10), Budget::pure(1)});
  for (double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    try {
      strict.run(std::vector{1.0, 2.0, bad}, rng);
      FAIL();
    } catch (const DataError& e) {
      EXPECT_STREQ(e.what(), "record 3 is not a finite number");
    }
  }
  const MomentPlan lenient =
      plan_mean({Relation::replace_one, Bounds(0, 10), Budget::pure(1e5), NonFinite::midpoint});
  EXPECT_NEAR(lenient.run(std::vector<double>{NAN, NAN, HUGE_VAL}, rng).value.value, 5, 1e-3);
}

TEST(Moments, UnderZeroOutWhatIsNotFiniteIsTheNullRecord) {
  for (const Moment moment : {Moment::sum, Moment::mean, Moment::variance}) {
    for (const NonFinite policy : {NonFinite::refuse, NonFinite::midpoint}) {
      const MomentPlan plan(moment, {Relation::zero_out, Bounds(60, 90), Budget::pure(1), policy});
      MomentAccumulator null = plan.start(), empty = plan.start();
      null.add_null();
      for (double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
        MomentAccumulator sums = plan.start();
        sums.add(bad);
        EXPECT_EQ(sums.sum(), null.sum());
        EXPECT_EQ(sums.sum().totals(), empty.sum().totals());
      }
    }
  }
}

TEST(Moments, ResultsAreFeasibleEvenWithoutRecords) {
  Rng rng = Rng::insecure_seed(2);
  for (Relation relation : kRelations) {
    for (const Budget& budget : budgets()) {
      for (int i = 0; i < 50; ++i) {
        const double mean = plan_mean({relation, Bounds(17, 90), budget}).run({}, rng).value.value;
        EXPECT_GE(mean, 17);
        EXPECT_LE(mean, 90);
        const double variance =
            plan_variance({relation, Bounds(17, 90), budget}).run({}, rng).value.value;
        EXPECT_GE(variance, 0);
        EXPECT_LE(variance, 36.5 * 36.5 * (1 + 1e-9));
      }
    }
  }
}

TEST(Moments, OutputsOfASumLieOnTheGridWhateverTheData) {
  Rng rng = Rng::insecure_seed(2);
  const MomentPlan plan = plan_sum({Relation::add_remove, Bounds(0, 1), Budget::pure(0.1)});
  for (double x : {0.1, 1.0 / 3, 5e-324, 1.0}) {
    EXPECT_EQ(std::fmod(plan.run(std::vector(7, x), rng).value.value, plan.noise().granularity()),
              0);
  }
}

TEST(Moments, RefuseBoundsAndBudgetsThatHaveNoLattice) {
  EXPECT_THROW(plan_mean({Relation::add_remove, Bounds(0, 1), Budget::pure(1e30)}),
               InvalidArgument);
  EXPECT_THROW(plan_mean({Relation::add_remove, Bounds(-1.7e308, 1.7e308), Budget::pure(1)}),
               InvalidArgument);
  EXPECT_THROW(plan_mean({Relation::add_remove, Bounds(0, 1), Budget::pure(1)}).start().add_null(),
               Unsupported);
}

}  // namespace sotto::moments_test
