#include "sotto/models/linear/detail/minibatch_gradient.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "route_data_test.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/record_replay.hpp"
#include "sotto/models/linear/detail/row_selection.hpp"

namespace sotto::minibatch_gradient_test {

TEST(MinibatchGradient, EventIsASampledGaussianRepeated) {
  const MinibatchGradientPlan plan({.batch = 10, .iterations = 50}, Relation::add_remove, 1000, 3,
                                   1.0);
  const Bound discrete = epsilon(Spec{Relation::add_remove, {plan.event()}}, Delta(1e-5));
  const Event ideal = repeat(poisson_sampled(GaussianEvent::from_multiplier(1), 0.01), 50);
  const Bound continuous = epsilon(Spec{Relation::add_remove, {ideal}}, Delta(1e-5));
  EXPECT_NEAR(discrete.upper, continuous.upper, 1e-3 * continuous.upper);
}

TEST(MinibatchGradient, AmplificationIsClaimedForTheRateThatRuns) {
  // The sampled sums of a constant gradient tell how many records were drawn: a binomial with the
  // rate of the event.
  const MinibatchGradientPlan plan({.batch = 50, .iterations = 400}, Relation::add_remove, 500, 3,
                                   1.0);
  const test::Records same(500, {{0, 0}, 1});
  const auto recording = replay::record(5, [&](Rng& rng) -> std::optional<Event> {
    return plan.run(test::rows_of(same), rng).event;
  });
  ASSERT_EQ(recording.queries.size(), 400u);
  // Only the first step has a known slope, −1/2 a record; later ones are bounded by it. Empty or
  // full samples never happen here.
  double first = static_cast<double>(std::fabs(recording.queries[0].values[2]));
  EXPECT_GT(first, 0);
  EXPECT_NEAR(plan.rate(), 0.1, 1e-12);
  const MinibatchGradientPlan frozen({.batch = 50, .iterations = 400, .learning_rate = 1e-12},
                                     Relation::add_remove, 500, 3, 1.0);
  const auto still = replay::record(5, [&](Rng& rng) -> std::optional<Event> {
    return frozen.run(test::rows_of(same), rng).event;
  });
  const auto one = replay::record(5, [&](Rng& rng) -> std::optional<Event> {
    const MinibatchGradientPlan all({.batch = 1, .iterations = 1, .learning_rate = 1e-12},
                                    Relation::add_remove, 1, 3, 1.0);
    return all.run(test::rows_of({same[0]}), rng).event;
  });
  const double unit = static_cast<double>(std::fabs(one.queries[0].values[2]));
  double drawn = 0;
  for (const auto& q : still.queries) drawn += static_cast<double>(std::fabs(q.values[2])) / unit;
  // 200 000 coins of bias 0.1: deviation 134; six of them leave far less than α = 1e-6, and a rate
  // of 0.11 is 2000 away.
  EXPECT_NEAR(drawn, 20000, 6 * 134.2);
}

TEST(MinibatchGradient, LearnsAndProjects) {
  Rng rng = Rng::insecure_seed(2);
  const auto two = test::sample_records(4000, LinearKind::logistic, 1);
  for (const bool average : {false, true}) {
    const MinibatchGradientPlan plan({.batch = 100, .average = average}, Relation::add_remove, 4000,
                                     3, 2.0);
    EXPECT_GT(test::accuracy(plan.run(test::rows_of(two), rng).value, two), 0.9);
  }
  const MinibatchGradientPlan small({.batch = 100, .radius = 0.5}, Relation::add_remove, 4000, 3,
                                    2.0);
  double square = 0;
  for (const double w : small.run(test::rows_of(two), rng).value.weights) square += w * w;
  EXPECT_LE(std::sqrt(square), 0.5 + 1e-9);
}

TEST(MinibatchGradient, SelectedRowsAreTheRowsBitForBit) {
  const ExactRows rows = test::rows_of(test::sample_records(50, LinearKind::linear, 1));
  const std::vector<std::size_t> numbers = {3, 3, 49, 0};
  const ExactRows some = select_rows(rows, numbers);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    for (std::size_t j = 0; j < rows.dimension(); ++j)
      EXPECT_EQ(some.row(i)[j], rows.row(numbers[i])[j]);
    EXPECT_EQ(some.target(i), rows.target(numbers[i]));
  }
}

TEST(MinibatchGradient, RefusesPlansWithoutMeaning) {
  EXPECT_THROW(MinibatchGradientPlan({.batch = 0}, Relation::add_remove, 10, 3, 1),
               InvalidArgument);
  EXPECT_THROW(MinibatchGradientPlan({}, Relation::add_remove, 0, 3, 1), InvalidArgument);
  EXPECT_THROW(MinibatchGradientPlan({}, Relation::add_remove, 10, 3, 0), InvalidArgument);
  EXPECT_THROW(MinibatchGradientPlan({.radius = -1}, Relation::add_remove, 10, 3, 1),
               InvalidArgument);
}

}  // namespace sotto::minibatch_gradient_test
