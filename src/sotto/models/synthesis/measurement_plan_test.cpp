#include "sotto/models/synthesis/detail/measurement_plan.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "sotto/models/synthesis/detail/level_groups.hpp"

namespace sotto::measurement_plan_test {

MeasurementFacts facts_of(std::size_t columns, double records, double noise, bool laplace) {
  return {.levels = std::vector<std::uint32_t>(columns, 4),
          .cells = std::vector<double>(columns, 8),
          .deviation = std::vector<double>(columns, 3 * noise),
          .bins = std::vector<double>(columns, 12),
          .records = records,
          .noise = noise,
          .laplace = laplace,
          .most = columns * columns};
}

std::vector<PairCandidate> all_pairs(std::uint32_t columns, double dependence) {
  std::vector<PairCandidate> all;
  for (std::uint32_t a = 0; a < columns; ++a)
    for (std::uint32_t b = a + 1; b < columns; ++b)
      all.push_back({.columns = {a, b}, .dependence = dependence, .cells = 16});
  return all;
}

double sum(const MeasurementPlan& plan) {
  return std::accumulate(plan.column_share.begin(), plan.column_share.end(), 0.0) +
         std::accumulate(plan.pair_share.begin(), plan.pair_share.end(), 0.0) +
         std::accumulate(plan.triple_share.begin(), plan.triple_share.end(), 0.0);
}

// What the sensitivity of the last release rests on, whatever the scores were.
TEST(MeasurementPlan, SharesArePositiveAndAddUpToOne) {
  std::mt19937 engine(1);
  const auto random = [&] { return static_cast<std::uint32_t>(engine()); };
  for (int trial = 0; trial < 60; ++trial) {
    const std::uint32_t columns = 1 + random() % 9;
    MeasurementFacts facts =
        facts_of(columns, std::pow(10, random() % 7), 0.5 * (1 + random() % 100), trial % 2 == 0);
    facts.most = random() % 20;
    facts.unknown = random() % 2 * 100;
    std::vector<PairCandidate> candidates = all_pairs(columns, 0);
    for (PairCandidate& c : candidates) {
      c.dependence = random() % 3 == 0 ? 0 : std::pow(10, random() % 12);
      c.importance = random() % 2 == 0 ? 1 : 8;
    }
    std::vector<TripleCandidate> triples;
    for (std::uint32_t b = 1; b + 1 < columns; ++b)
      triples.push_back({.columns = {0, b, columns - 1},
                         .dependence = random() % 3 == 0 ? 0 : std::pow(10, random() % 12),
                         .cells = 64,
                         .importance = 8});
    const MeasurementPlan plan = planned_measurements(facts, candidates, triples);
    ASSERT_EQ(plan.triple_share.size(), plan.triples.size());
    for (const double share : plan.triple_share) EXPECT_GT(share, 0);
    ASSERT_EQ(plan.column_share.size(), columns);
    ASSERT_EQ(plan.pair_share.size(), plan.pairs.size());
    EXPECT_LE(plan.pairs.size(), facts.most);
    EXPECT_NEAR(sum(plan), 1, 1e-9);
    for (const double share : plan.column_share) EXPECT_GT(share, 0);
    for (const double share : plan.pair_share) EXPECT_GT(share, 0);
  }
}

TEST(MeasurementPlan, WhatPairsDoNotNeedGoesToTheColumns) {
  for (const bool laplace : {false, true}) {
    const MeasurementFacts facts = facts_of(6, 10000, 10, laplace);
    const MeasurementPlan none = planned_measurements(facts, all_pairs(6, 0));
    EXPECT_TRUE(none.pairs.empty());
    std::vector<PairCandidate> one = all_pairs(6, 0);
    one[7].dependence = 9000;
    const MeasurementPlan some = planned_measurements(facts, one);
    ASSERT_EQ(some.pairs, std::vector<std::size_t>{7});
    EXPECT_GT(some.pair_share[0], 0.02);
    EXPECT_GT(std::accumulate(some.column_share.begin(), some.column_share.end(), 0.0), 0.3);
    EXPECT_GE(planned_measurements(facts, all_pairs(6, 9000)).pairs.size(), 10u);
  }
}

TEST(MeasurementPlan, TriplesAreCountedWhereTheyHoldMoreThanNoise) {
  const MeasurementFacts facts = facts_of(6, 10000, 10, false);
  const auto counted = [&](double dependence, const MeasurementFacts& with) {
    return planned_measurements(
               with, all_pairs(6, 0),
               {{.columns = {0, 3, 5}, .dependence = dependence, .cells = 64, .importance = 8}})
        .triples.size();
  };
  EXPECT_EQ(counted(9000, facts), 1u);
  EXPECT_EQ(counted(0, facts), 0u);
  EXPECT_EQ(counted(9000, facts_of(6, 10000, 2000, false)), 0u);
}

// An important pair is counted although it makes the others a little worse, but not much worse.
TEST(MeasurementPlan, ImportanceHasItsPrice) {
  std::vector<PairCandidate> candidates = all_pairs(12, 0);
  candidates[3].dependence = 1500;
  const MeasurementFacts plenty = facts_of(12, 10000, 10, false);
  const auto counts_it = [&](const MeasurementFacts& facts, double importance) {
    candidates[3].importance = importance;
    return !planned_measurements(facts, candidates).pairs.empty();
  };
  EXPECT_TRUE(counts_it(plenty, 8));
  // Where noise is as large as the records, nothing is worth it.
  EXPECT_FALSE(counts_it(facts_of(12, 10000, 2000, false), 8));
}

TEST(LevelGroups, BetterCountsKeepTheLevels) {
  const std::vector<double> first = {100, 90, 4, -3, 2, 80, 70, 1},
                            again = {101, 92, 3, 1, 2, 79, 72, 3};
  const ColumnLevels made = grouped(first, 10, CellOrder::numbers);
  const ColumnLevels better = regrouped(again, 5, 0, made.level);
  EXPECT_EQ(better.level, made.level);
  EXPECT_EQ(better.levels, made.levels);
  EXPECT_NEAR(std::accumulate(better.counts.begin(), better.counts.end(), 0.0), 353, 1e-9);
  EXPECT_NEAR(better.deviation, made.deviation / 2, 1e-9);
}

}  // namespace sotto::measurement_plan_test
