#include "sotto/learning/group_report.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sotto/accounting/account.hpp"
#include "sotto/core/record_replay.hpp"

namespace sotto::group_report_test {

ScoredRow row(std::size_t target, std::size_t said, std::uint32_t group, double p = 0.5) {
  return {.target = static_cast<double>(target),
          .probabilities = {1 - p, p},
          .prediction = static_cast<double>(said),
          .group = group};
}

// Group 0: 40 true positives, 10 false negatives, 5 false positives, 45 true negatives; group 1 the
// same model on others.
std::vector<ScoredRow> rows() {
  std::vector<ScoredRow> all;
  const auto add = [&](int count, std::size_t target, std::size_t said, std::uint32_t group) {
    for (int i = 0; i < count; ++i) all.push_back(row(target, said, group, said == 1 ? 0.8 : 0.2));
  };
  add(40, 1, 1, 0), add(10, 1, 0, 0), add(5, 0, 1, 0), add(45, 0, 0, 0);
  add(5, 1, 1, 1), add(15, 1, 0, 1), add(16, 0, 1, 1), add(64, 0, 0, 1);
  return all;
}

TEST(GroupReport, HasTheRatesOfTheCounts) {
  const GroupReport r = group_report(group_counts(rows(), 2, {"a", "b"}));
  ASSERT_EQ(r.groups.size(), 2U);
  EXPECT_EQ(r.groups[0].rows, 100);
  EXPECT_DOUBLE_EQ(r.groups[0].accuracy->value, 0.85);
  EXPECT_DOUBLE_EQ(r.groups[0].true_positive_rate->value, 0.8);
  EXPECT_DOUBLE_EQ(r.groups[0].false_positive_rate->value, 0.1);
  EXPECT_DOUBLE_EQ(r.groups[0].selection_rate->value, 0.45);
  EXPECT_NEAR(r.groups[0].calibration->value, 0.45 * 0.8 + 0.55 * 0.2 - 0.5, 1e-12);
  EXPECT_DOUBLE_EQ(r.groups[1].true_positive_rate->value, 0.25);
  EXPECT_NEAR(r.accuracy->value, 0.85 - 0.69, 1e-12);
  EXPECT_EQ(r.accuracy->largest, "a");
  EXPECT_EQ(r.worst_group, "b");
  EXPECT_NEAR(r.demographic_parity->value, 0.45 - 0.21, 1e-12);
  EXPECT_NEAR(r.true_positive_rate->value, 0.55, 1e-12);
  EXPECT_NEAR(r.false_positive_rate->value, 0.1, 1e-12);
  EXPECT_EQ(r.false_positive_rate->largest, "b");
  EXPECT_NEAR(r.equalized_odds->value, 0.55, 1e-12);
  EXPECT_EQ(r.worst_class, 1U);
  EXPECT_NEAR(r.worst_class_recall->value, 45.0 / 70, 1e-12);
}

TEST(GroupReport, IntervalsContainWhatTheyAreAboutAndKnownOnes) {
  const GroupReport r = group_report(group_counts(rows(), 2, {"a", "b"}));
  for (const GroupFigures& g : r.groups)
    for (const auto& m : {g.accuracy, g.true_positive_rate, g.false_positive_rate}) {
      EXPECT_LE(m->interval_95.lower, m->value);
      EXPECT_GE(m->interval_95.upper, m->value);
    }
  // 56 of 70 against 48 of 80: 0.2, 0.0524 to 0.3339 by the score intervals [New98, Table II].
  Confusion a = {{56, 14}, {0, 0}}, b = {{48, 32}, {0, 0}};
  const GroupReport known = group_report(
      {{.group = "a", .confusion = a, .z = 0}, {.group = "b", .confusion = b, .z = 0}});
  EXPECT_NEAR(known.accuracy->value, 0.2, 1e-12);
  EXPECT_NEAR(known.accuracy->interval_95.lower, 0.0524, 5e-5);
  EXPECT_NEAR(known.accuracy->interval_95.upper, 0.3339, 5e-5);
}

TEST(GroupReport, LeavesOutWhatIsNotThere) {
  const GroupReport r = group_report(group_counts({row(1, 1, 0)}, 2, {"a", "b"}));
  EXPECT_FALSE(r.groups[1].accuracy);
  EXPECT_FALSE(r.groups[0].false_positive_rate);  // no negatives
  EXPECT_FALSE(r.accuracy);                       // one group only
  // Noise drowns small groups.
  const GroupReport noisy =
      group_report({{.group = "a", .confusion = {{9, 1}, {0, 9}}, .sigma = 5},
                    {.group = "b", .confusion = {{900, 9}, {0, 90}}, .sigma = 5}});
  EXPECT_FALSE(noisy.groups[0].accuracy);
  EXPECT_TRUE(noisy.groups[1].accuracy);
}

TEST(GroupReport, OfManyClassesComparesRecalls) {
  std::vector<ScoredRow> all;
  for (std::uint32_t g = 0; g < 2; ++g)
    for (std::size_t c = 0; c < 3; ++c)
      for (int i = 0; i < 10; ++i)
        all.push_back({.target = static_cast<double>(c),
                       .probabilities = {0.3, 0.3, 0.4},
                       .prediction = static_cast<double>(g == 1 && c == 2 && i < 6 ? 0 : c),
                       .group = g});
  const GroupReport r = group_report(group_counts(all, 3, {"a", "b"}));
  EXPECT_FALSE(r.demographic_parity);
  EXPECT_NEAR(r.equalized_odds->value, 0.6, 1e-12);
  EXPECT_EQ(r.worst_class, 2U);
}

// Private counts: one record moves one count, whatever group it is in or goes to.
TEST(GroupReport, OfPrivateRowsIsPaidForAndReplays) {
  for (const Relation relation :
       {Relation::add_remove, Relation::replace_one, Relation::zero_out}) {
    for (const Budget& budget : {Budget::pure(1), Budget::approximate(1, 1e-5)}) {
      const PrivateEvaluationPlan plan(
          {.relation = relation, .classes = 2, .target = {}, .groups = 2}, budget);
      const double delta = budget.is_pure() ? 0 : 1e-5;
      EXPECT_LE(guarantee(Spec{relation, {plan.event()}}, delta).upper, 1 + 1e-12);
      // As many groups as one likes cost the same: a record is in one cell.
      const PrivateEvaluationPlan alone(
          {.relation = relation, .classes = 2, .target = {}, .groups = 1}, budget);
      EXPECT_NEAR(guarantee(Spec{relation, {plan.event()}}, delta).upper,
                  guarantee(Spec{relation, {alone.event()}}, delta).upper, 1e-6);
      std::vector<ScoredRow> first = rows(), second = first;
      if (relation == Relation::add_remove) {
        second.push_back(row(1, 0, 1, 0.9));
      } else if (relation == Relation::zero_out) {
        second[3].null = true;
      } else {
        second[3] = row(0, 1, 1, 0.01);  // another class, prediction, score and group
      }
      const auto run_on = [&](const std::vector<ScoredRow>& data) {
        return [&](Rng& rng) { return std::optional(plan.run(data, rng).event); };
      };
      for (std::uint64_t seed = 0; seed < 5; ++seed)
        EXPECT_EQ(replay::check_neighbours(run_on(first), run_on(second), seed), "");
      Rng rng = Rng::insecure_seed(3);
      const auto release = plan.run(first, rng);
      const auto counts = group_counts(release.value, {"a", "b"});
      EXPECT_GT(counts[0].sigma, 0);
      const GroupReport r = group_report(counts);
      EXPECT_EQ(r.groups.size(), 2U);
    }
  }
}

TEST(GroupReport, PrivateFiguresAreNearTheExactOnesAndTheIntervalsSayHowNear) {
  std::vector<ScoredRow> many;
  for (int i = 0; i < 100; ++i)
    for (const ScoredRow& r : rows()) many.push_back(r);
  const GroupReport exact = group_report(group_counts(many, 2, {"a", "b"}));
  const PrivateEvaluationPlan plan({.classes = 2, .target = {}, .groups = 2},
                                   Budget::approximate(1, 1e-5));
  int inside = 0, all = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Rng rng = Rng::insecure_seed(seed);
    const GroupReport noisy = group_report(group_counts(plan.run(many, rng).value, {"a", "b"}));
    for (std::size_t g = 0; g < 2; ++g)
      for (const auto figure :
           {&GroupFigures::accuracy, &GroupFigures::true_positive_rate,
            &GroupFigures::false_positive_rate, &GroupFigures::selection_rate}) {
        const PrivateMetric& m = *(noisy.groups[g].*figure);
        EXPECT_NEAR(m.value, (exact.groups[g].*figure)->value, 0.02);
        inside += (exact.groups[g].*figure)->value >= m.interval_95.lower &&
                  (exact.groups[g].*figure)->value <= m.interval_95.upper;
        ++all;
      }
    EXPECT_NEAR(noisy.groups[0].calibration->value, exact.groups[0].calibration->value, 0.03);
  }
  EXPECT_GE(inside, all * 19 / 20);  // the rows are the same: what is left is noise alone
}

}  // namespace sotto::group_report_test
