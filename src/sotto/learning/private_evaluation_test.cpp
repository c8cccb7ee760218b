#include "sotto/learning/private_evaluation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sotto/accounting/account.hpp"
#include "sotto/core/record_replay.hpp"
#include "support/statistics.hpp"

namespace sotto::private_evaluation_test {

double uniform(Rng& rng) { return static_cast<double>(rng.next_u64() >> 11) * 0x1p-53; }

// Rows of a binary model that is right with probability 0.8.
std::vector<ScoredRow> binary_rows(std::size_t n, Rng& rng) {
  std::vector<ScoredRow> rows(n);
  for (ScoredRow& row : rows) {
    row.prediction = uniform(rng) < 0.5;
    row.target = uniform(rng) < 0.8 ? row.prediction : 1 - row.prediction;
    const double p = row.prediction == 1 ? 0.55 + 0.4 * uniform(rng) : 0.45 - 0.4 * uniform(rng);
    row.probabilities = {1 - p, p};
    row.group = uniform(rng) < 0.3 ? 1 : 0;
  }
  return rows;
}

PrivateEvaluationOptions binary(Relation relation, std::uint64_t contributions = 1) {
  return {.relation = relation,
          .contributions = contributions,
          .classes = 2,
          .target = {},
          .groups = 2};
}
PrivateEvaluationOptions regression(Relation relation, std::uint64_t contributions = 1) {
  return {.relation = relation,
          .contributions = contributions,
          .classes = 0,
          .target = Bounds(0, 10),
          .groups = 2};
}

TEST(PrivateEvaluation, WithAHugeBudgetAgreesWithThePlainFigures) {
  Rng rng = Rng::insecure_seed(1);
  const auto rows = binary_rows(5000, rng);
  std::vector<double> scores;
  std::vector<bool> positive;
  double right = 0, loss = 0;
  for (const ScoredRow& row : rows) {
    scores.push_back(row.probabilities[1]);
    positive.push_back(row.target == 1);
    right += row.prediction == row.target;
    loss -= std::log(row.probabilities[static_cast<std::size_t>(row.target)]);
  }
  const auto q =
      PrivateEvaluationPlan(binary(Relation::add_remove), Budget::pure(1000)).run(rows, rng).value;
  EXPECT_EQ(q.all.rows, 5000);
  EXPECT_NEAR(q.all.accuracy->value, right / 5000, 1e-9);
  EXPECT_NEAR(q.all.auc->value, *area_under_curve(scores, positive), 0.01);
  EXPECT_NEAR(q.all.log_loss->value, loss / 5000, 0.01);
  EXPECT_EQ(q.groups.size(), 2u);
  EXPECT_EQ(q.groups[0].rows + q.groups[1].rows, 5000);
  EXPECT_EQ(q.all.confusion[0][0] + q.all.confusion[1][1], right);
}

TEST(PrivateEvaluation, RegressionFiguresAreInTheUnitOfTheTarget) {
  Rng rng = Rng::insecure_seed(2);
  std::vector<ScoredRow> rows;
  double absolute = 0, square = 0, mean = 0, total = 0;
  for (int i = 0; i < 4000; ++i) {
    const double t = 10 * uniform(rng), e = uniform(rng) - 0.5;
    rows.push_back({.target = t, .prediction = std::clamp(t + e, 0.0, 10.0), .group = 0});
    const double off = t - rows.back().prediction;
    absolute += std::fabs(off), square += off * off, mean += t / 4000;
  }
  for (const ScoredRow& row : rows) total += (row.target - mean) * (row.target - mean);
  const auto q = PrivateEvaluationPlan(regression(Relation::replace_one), Budget::pure(2000))
                     .run(rows, rng)
                     .value.all;
  EXPECT_EQ(q.rows, 4000);  // public
  EXPECT_NEAR(q.mae->value, absolute / 4000, 0.01);
  EXPECT_NEAR(q.rmse->value, std::sqrt(square / 4000), 0.01);
  EXPECT_NEAR(q.r2->value, 1 - square / total, 0.01);
}

TEST(PrivateEvaluation, IntervalsCoverTheTruthAndWouldNotWithoutTheNoise) {
  Rng rng = Rng::insecure_seed(3);
  const PrivateEvaluationPlan plan({.relation = Relation::add_remove, .classes = 2, .target = {}},
                                   Budget::pure(0.1));
  std::uint64_t covered = 0, sampling_only = 0;
  constexpr std::uint64_t kTrials = 2000;
  for (std::uint64_t i = 0; i < kTrials; ++i) {
    auto rows = binary_rows(500, rng);
    for (ScoredRow& row : rows) row.group = 0;
    const auto q = plan.run(rows, rng).value.all;
    const auto inside = [](const Interval& v) { return v.lower <= 0.8 && 0.8 <= v.upper; };
    if (!q.accuracy) continue;
    covered += inside(q.accuracy->interval_95);
    sampling_only += inside(wilson_95(static_cast<std::uint64_t>(q.accuracy->value * 500), 500));
  }
  // Far fewer than 95 % would be a wrong interval; the mutant that forgets the noise is far off.
  EXPECT_GT(test::clopper_pearson_upper(covered, kTrials, test::kAlpha), 0.95);
  EXPECT_LT(test::clopper_pearson_upper(sampling_only, kTrials, test::kAlpha), 0.95);
}

TEST(PrivateEvaluation, CostsAtMostTheBudget) {
  for (const Relation relation : {Relation::add_remove, Relation::replace_one}) {
    for (const auto& options : {binary(relation, 3), regression(relation, 3)}) {
      const PrivateEvaluationPlan plan(options, Budget::approximate(0.7, 1e-6));
      const Bound bound = epsilon(Spec{relation, {plan.event()}}, Delta(1e-6));
      EXPECT_LE(bound.upper, 0.7);
      EXPECT_GT(bound.upper, 0.69);
      const PrivateEvaluationPlan pure(options, Budget::pure(0.7));
      EXPECT_LE(guarantee(Spec{relation, {pure.event()}}, 0).upper, 0.7 * (1 + 1e-12));
    }
  }
}

TEST(PrivateEvaluation, ReplaysOnNeighboursWhateverTheModelSays) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<ScoredRow> odd = {
      {.target = 1, .probabilities = {1, 0}, .prediction = 0, .group = 1},
      {.target = 0, .probabilities = {kNan, kNan}, .prediction = 1, .group = 0},
      {.target = 10, .probabilities = {0, 1}, .prediction = kNan, .group = 1},
      {.target = 1e300, .probabilities = {}, .prediction = -1e300, .group = 0},
      {.target = 0, .probabilities = {0.5, 0.5}, .prediction = 0, .group = 7}};
  Rng make = Rng::insecure_seed(4);
  const auto common = binary_rows(20, make);
  for (const std::uint64_t k : {std::uint64_t{1}, std::uint64_t{3}}) {
    for (const Relation relation : {Relation::add_remove, Relation::replace_one}) {
      for (const auto& options : {binary(relation, k), regression(relation, k)}) {
        for (const Budget& budget :
             {Budget::pure(1), Budget::zcdp(0.1), Budget::approximate(1, 1e-6)}) {
          const PrivateEvaluationPlan plan(options, budget);
          for (const ScoredRow& row : odd) {
            for (const ScoredRow& other : odd) {
              auto a = common, b = common;
              for (std::uint64_t i = 0; i < k; ++i) {
                b.push_back(row);
                if (relation == Relation::replace_one) a.push_back(other);
              }
              const auto on = [&](const std::vector<ScoredRow>& rows) {
                return [&](Rng& rng) -> std::optional<Event> { return plan.run(rows, rng).event; };
              };
              EXPECT_EQ(replay::check_neighbours(on(a), on(b)), "");
            }
          }
        }
      }
    }
  }
}

TEST(PrivateEvaluation, SaysNothingThatTheNoiseDrowned) {
  Rng rng = Rng::insecure_seed(5);
  const auto q = PrivateEvaluationPlan(binary(Relation::add_remove), Budget::pure(0.01))
                     .run(binary_rows(10, rng), rng)
                     .value.all;
  EXPECT_FALSE(q.accuracy || q.auc || q.log_loss);
}

}  // namespace sotto::private_evaluation_test
