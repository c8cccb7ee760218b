#include "sotto/models/linear/sample_aggregate.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "route_data_test.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/record_replay.hpp"

namespace sotto::sample_aggregate_test {

TEST(SampleAggregate, StepsStayInTheBallWhateverTheVector) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 2000; ++i) {
    std::vector<double> v(1 + random() % 50);
    for (double& x : v) x = normal(random) * std::exp(normal(random) * 3);
    double square = 0;
    for (const int128 s : steps_in_ball(v, 5))
      square += static_cast<double>(s) * static_cast<double>(s);
    EXPECT_LE(std::sqrt(square) * ball_step(5), 5 * (1 + 1e-12));
  }
  for (const double bad : {static_cast<double>(NAN), static_cast<double>(INFINITY), 1e300}) {
    for (const int128 s : steps_in_ball(std::vector<double>{bad, 1}, 5)) EXPECT_TRUE(s == 0);
  }
}

// One part of one record: its fit can jump from one end of the ball to the other, and no record
// moves the sum further.
TEST(SampleAggregate, WorstCaseOfTheSumIsTheDiameterOfTheBall) {
  const SampleAggregatePlan plan({.parts = 1, .radius = 0.01}, Relation::replace_one, 10, 3,
                                 Budget::zcdp(0.1));
  const auto query = [&](const test::Records& records) {
    return replay::record(1,
                          [&](Rng& rng) -> std::optional<Event> {
                            return plan.run(test::rows_of(records), rng).event;
                          })
        .queries.at(0);
  };
  const auto a = query({{{1, 1}, 1}}), b = query({{{1, 1}, -1}});
  const auto moved = static_cast<double>(replay::norm_of_difference(a.values, b.values, Norm::l2));
  EXPECT_LE(moved, a.sensitivity);
  EXPECT_GT(moved, a.sensitivity * 0.99);
}

TEST(SampleAggregate, LearnsByMeanAndByMedian) {
  Rng rng = Rng::insecure_seed(2);
  const auto two = test::sample_records(8000, LinearKind::logistic, 1);
  for (const Aggregate aggregate : {Aggregate::mean, Aggregate::median}) {
    for (const Budget& budget : {Budget::pure(2), Budget::zcdp(0.1)}) {
      const SampleAggregatePlan plan({.aggregate = aggregate}, Relation::add_remove, 8000, 3,
                                     budget);
      EXPECT_GT(test::accuracy(plan.run(test::rows_of(two), rng).value, two), 0.85)
          << name(aggregate) << budget.describe();
    }
  }
  const auto line = test::sample_records(8000, LinearKind::linear, 1);
  const SampleAggregatePlan plan({.loss = Loss::squared}, Relation::replace_one, 8000, 3,
                                 Budget::zcdp(0.5));
  EXPECT_GT(test::r_squared(plan.run(test::rows_of(line), rng).value, line), 0.6);
}

TEST(SampleAggregate, AMedianOfManyContributionsSpendsTheBudgetOnAllOfThem) {
  const SampleAggregatePlan one({.aggregate = Aggregate::median}, Relation::add_remove, 100, 3,
                                Budget::pure(1));
  const SampleAggregatePlan four({.aggregate = Aggregate::median, .contributions = 4},
                                 Relation::add_remove, 100, 3, Budget::pure(1));
  const auto cost = [](const SampleAggregatePlan& plan) {
    return plan.event().get_if<RepeatEvent>()->event->get_if<ExponentialEvent>()->epsilon;
  };
  EXPECT_NEAR(cost(one), 1.0 / 3, 1e-6);
  EXPECT_NEAR(cost(four), 1.0 / 3, 1e-6);
}

TEST(SampleAggregate, RefusesPlansWithoutMeaning) {
  const Budget budget = Budget::pure(1);
  EXPECT_THROW(SampleAggregatePlan({}, Relation::add_remove, 0, 3, budget), InvalidArgument);
  EXPECT_THROW(SampleAggregatePlan({.radius = -1}, Relation::add_remove, 10, 3, budget),
               InvalidArgument);
  EXPECT_THROW(SampleAggregatePlan({.parts = 1ull << 40}, Relation::add_remove, 10, 3, budget),
               InvalidArgument);
  EXPECT_THROW(parse_aggregate("mode"), InvalidArgument);
}

}  // namespace sotto::sample_aggregate_test
