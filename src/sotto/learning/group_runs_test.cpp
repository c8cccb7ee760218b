#include "sotto/learning/group_runs.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sotto::group_runs_test {

// 50 rows of each of two groups; the model is wrong about so many of the first and of the second.
std::vector<ScoredRow> rows(int wrong_a, int wrong_b) {
  std::vector<ScoredRow> all;
  for (std::uint32_t g = 0; g < 2; ++g)
    for (int i = 0; i < 50; ++i) {
      const bool wrong = i < (g == 0 ? wrong_a : wrong_b);
      const double target = i % 2;
      all.push_back({.target = target,
                     .probabilities = {0.5, 0.5},
                     .prediction = wrong ? 1 - target : target,
                     .group = g});
    }
  return all;
}

TEST(GroupRuns, MeanOverRunsAndWhatPrivacyCosts) {
  GroupRuns runs(2, {"a", "b"});
  runs.set_baseline(rows(2, 5));
  runs.add(rows(4, 15));
  runs.add(rows(6, 25));
  const GroupReport r = runs.report();
  EXPECT_EQ(runs.runs(), 2U);
  EXPECT_NEAR(r.groups[0].accuracy->value, 0.9, 1e-12);
  EXPECT_NEAR(r.groups[1].accuracy->value, 0.6, 1e-12);
  EXPECT_NEAR(r.groups[0].privacy_cost->value, 0.06, 1e-12);
  EXPECT_NEAR(r.groups[1].privacy_cost->value, 0.3, 1e-12);
  EXPECT_NEAR(r.privacy_cost->value, 0.24, 1e-12);
  EXPECT_EQ(r.privacy_cost->largest, "b");
  EXPECT_NEAR(r.accuracy->value, 0.3, 1e-12);
  // Two runs of .04 and .08: Student with one degree of freedom, and the rows' part.
  const double between = 12.706 * 0.02, rows_part = 1.96 * std::sqrt((0.06 - 0.0036) / 50);
  EXPECT_NEAR(r.groups[0].privacy_cost->interval_95.upper - 0.06, std::hypot(between, rows_part),
              1e-9);
}

TEST(GroupRuns, WithoutABaselineThereIsNoCost) {
  GroupRuns runs(2, {"a", "b"});
  runs.add(rows(4, 15));
  const GroupReport r = runs.report();
  EXPECT_FALSE(r.groups[0].privacy_cost);
  EXPECT_FALSE(r.privacy_cost);
  EXPECT_TRUE(r.worst_class);
}

// Rows where both models err alike tell nothing of the cost, and do not widen its interval.
TEST(GroupRuns, SharedErrorsDoNotWidenTheCost) {
  GroupRuns runs(2, {"a", "b"});
  runs.set_baseline(rows(25, 0));
  runs.add(rows(25, 0));
  runs.add(rows(25, 0));
  const GroupReport r = runs.report();
  EXPECT_EQ(r.groups[0].privacy_cost->value, 0);
  EXPECT_EQ(r.groups[0].privacy_cost->interval_95.upper, 0);
}

}  // namespace sotto::group_runs_test
