#include "sotto/pate/detail/cost_table.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "sotto/core/error.hpp"
#include "sotto/core/numeric/mills.hpp"
#include "sotto/pate/two_classes.hpp"
#include "sotto/pate/vote_renyi.hpp"

namespace sotto::pate::cost_table_test {

using Counts = std::vector<std::int64_t>;

std::vector<Counts> all_votes(std::int64_t teachers, std::size_t classes) {
  std::vector<Counts> all;
  Counts counts(classes, 0);
  const std::function<void(std::size_t, std::int64_t)> fill = [&](std::size_t j,
                                                                  std::int64_t left) {
    if (j + 1 == classes) {
      counts[j] = left;
      all.push_back(counts);
      return;
    }
    for (counts[j] = 0; counts[j] <= left; ++counts[j]) fill(j + 1, left - counts[j]);
  };
  fill(0, teachers);
  return all;
}

std::vector<Counts> neighbours(const Counts& counts) {
  std::vector<Counts> result;
  for (std::size_t i = 0; i < counts.size(); ++i)
    for (std::size_t j = 0; j < counts.size(); ++j) {
      if (i == j || counts[i] == 0) continue;
      Counts moved = counts;
      --moved[i], ++moved[j];
      result.push_back(moved);
    }
  return result;
}

std::int64_t largest(const Counts& c) { return *std::max_element(c.begin(), c.end()); }

struct Case {
  Aggregator aggregator;
  std::uint64_t teachers;
  std::size_t classes;
  double sigma, threshold, sigma_threshold, order;
};

class SmallVotes : public testing::TestWithParam<Case> {
 protected:
  static LabelOptions options(const Case& c) {
    return {.aggregator = c.aggregator,
            .teachers = c.teachers,
            .queries = 1,
            .classes = c.classes,
            .sigma = c.sigma,
            .threshold = c.threshold,
            .sigma_threshold = c.sigma_threshold};
  }
};

// All vote vectors, all neighbours, all distances.
TEST_P(SmallVotes, BoundsHoldAgainstBruteForce) {
  const Case c = GetParam();
  const CostTable table(options(c), c.order);
  const auto all = all_votes(static_cast<std::int64_t>(c.teachers), c.classes);
  std::map<Counts, double> cost;
  std::map<Counts, std::vector<double>> bound;
  for (const Counts& v : all) {
    const auto place = CostTable::place(v, largest(v));
    cost[v] = table.cost(place);
    auto& b = bound[v];
    b.assign(c.teachers + 1, 0.0);
    table.add_sensitivities(place, b);
  }
  for (const Counts& v : all) {
    // Local sensitivity of everything within d moves, by walking there.
    std::set<Counts> seen = {v}, edge = {v};
    double local = 0;
    for (std::size_t d = 0; d <= c.teachers; ++d) {
      std::set<Counts> next;
      for (const Counts& w : edge)
        for (const Counts& u : neighbours(w)) {
          local = std::max(local, std::abs(cost[w] - cost[u]));
          if (seen.insert(u).second) next.insert(u);
        }
      ASSERT_GE(bound[v][d] * (1 + 1e-9) + 1e-300, local) << "distance " << d;
      edge = std::move(next);
    }
    // Smooth: at most e^β times that of a neighbour, for any β.
    for (const Counts& u : neighbours(v)) {
      for (std::size_t d = 0; d < c.teachers; ++d)
        ASSERT_LE(bound[v][d], bound[u][d + 1] * (1 + 1e-12));
      for (const double beta : {.01, .1, 1.}) {
        const double a = smooth_sensitivity(bound[v], beta), b = smooth_sensitivity(bound[u], beta);
        ASSERT_LE(a, b * std::exp(beta) * (1 + 1e-9));
      }
    }
  }
}

// The cost is the paper's, but for the cells.
TEST_P(SmallVotes, CostsAreCloseToTheFormulas) {
  const Case c = GetParam();
  if (has_threshold(c.aggregator)) GTEST_SKIP();
  const CostTable table(options(c), c.order);
  const std::vector<double> by_lead =
      c.classes == 2 ? two_class_renyi(options(c), c.order) : std::vector<double>();
  for (const Counts& v : all_votes(static_cast<std::int64_t>(c.teachers), c.classes)) {
    const double formula =
        c.aggregator == Aggregator::lnmax
            ? lnmax_renyi(log_q_laplace(v, c.sigma, kVoteStep), c.sigma, c.order)
            : gnmax_renyi(log_q_gaussian(v, c.sigma, kVoteStep), c.sigma, c.order);
    const double cost = table.cost(CostTable::place(v, largest(v)));
    const double exact =
        c.classes == 2 ? by_lead[static_cast<std::size_t>(std::abs(v[0] - v[1]))] : formula;
    EXPECT_GE(cost, exact * (1 - 1e-9) - 1e-300);
    // The formulas are of one direction, which is less where a vote is much against the noise.
    if (c.classes == 2 && c.sigma >= 4) {
      EXPECT_LE(cost, formula * (1 + 1e-3));
    }
    EXPECT_LE(cost, table.worst());
  }
}

INSTANTIATE_TEST_SUITE_P(All, SmallVotes,
                         testing::Values(Case{Aggregator::gnmax, 10, 3, .5, 0, 0, 1.5},
                                         Case{Aggregator::gnmax, 12, 3, 1.5, 0, 0, 4},
                                         Case{Aggregator::gnmax, 20, 2, 2, 0, 0, 3},
                                         Case{Aggregator::gnmax, 21, 2, 6, 0, 0, 8},
                                         Case{Aggregator::lnmax, 21, 2, 4, 0, 0, 5},
                                         Case{Aggregator::confident_gnmax, 20, 2, 4, 14, 5, 3},
                                         Case{Aggregator::gnmax, 8, 4, 1, 0, 0, 2},
                                         Case{Aggregator::lnmax, 12, 3, 2, 0, 0, 4},
                                         Case{Aggregator::lnmax, 8, 4, 1, 0, 0, 10},
                                         Case{Aggregator::confident_gnmax, 12, 3, 1.5, 8, 4, 4},
                                         Case{Aggregator::confident_gnmax, 8, 4, 1, 5, 2, 2}),
                         [](const auto& c) {
                           return std::string(name(c.param.aggregator)) + "_" +
                                  std::to_string(c.param.teachers) + "_teachers_" +
                                  std::to_string(c.param.classes) + "_classes";
                         });

// With a threshold: the divergence of the two-step mechanism itself, by integration over the noisy
// maximum, stays below the cost whatever the neighbour.
TEST(CostTable, AThresholdedAnswerCostsAtLeastItsDivergence) {
  const LabelOptions o{.aggregator = Aggregator::confident_gnmax,
                       .teachers = 20,
                       .queries = 1,
                       .classes = 2,
                       .sigma = 3,
                       .threshold = 14,
                       .sigma_threshold = 5};
  const double order = 3;
  const CostTable table(o, order);
  const auto law = [&](std::int64_t first) {
    // none, first class, second class
    const double most = static_cast<double>(std::max(first, 20 - first));
    const double answered = normal_sf((o.threshold - most) / o.sigma_threshold);
    const double one = normal_sf(static_cast<double>(20 - 2 * first) / (std::sqrt(2.) * o.sigma));
    return std::vector<double>{1 - answered, answered * one, answered * (1 - one)};
  };
  for (std::int64_t first = 0; first <= 20; ++first)
    for (const std::int64_t other : {first - 1, first + 1}) {
      if (other < 0 || other > 20) continue;
      const auto p = law(first), q = law(other);
      double moment = 0;
      for (std::size_t i = 0; i < 3; ++i)
        moment += std::pow(p[i], order) * std::pow(q[i], 1 - order);
      const Counts votes = {first, 20 - first};
      const double cost = table.cost(CostTable::place(votes, largest(votes)));
      EXPECT_LE(std::log(moment) / (order - 1), cost * (1 + 1e-6));
    }
}

// The reference implementation's local sensitivities of [10, 0, 0], σ = 0.5, order 1.5: one vote
// after the other goes from the first class to the second.
TEST(CostTable, LocalSensitivitiesAreThoseOfThePaper) {
  const double sigma = .5, order = 1.5;
  const auto gap_of = [&](double log_q) {  // equal gap of two others
    return std::sqrt(2.) * sigma * normal_quantile_upper(log_q - std::log(2.));
  };
  const auto cost_at = [&](double gap) {
    return gnmax_renyi(std::log(2.) + log_tail_gaussian(gap, sigma), sigma, order);
  };
  const auto local = [&](double log_q) {
    const double x = gap_of(log_q), cost = gnmax_renyi(log_q, sigma, order);
    return std::max(cost_at(x - 2) - cost, cost - cost_at(x + 2));
  };
  const std::vector<std::pair<Counts, double>> published = {
      {{10, 0, 0}, 3.13503646e-17}, {{9, 1, 0}, 1.60178280e-08}, {{8, 2, 0}, 5.90681786e-03}};
  const CostTable table(
      {.aggregator = Aggregator::gnmax, .teachers = 10, .queries = 1, .classes = 3, .sigma = sigma},
      order);
  std::vector<double> ours(10, 0.0);
  table.add_sensitivities(CostTable::place(Counts{10, 0, 0}, 10), ours);
  for (std::size_t d = 0; d < published.size(); ++d) {
    const auto& [votes, value] = published[d];
    EXPECT_NEAR(local(log_q_gaussian(votes, sigma)), value, 1e-7 * value);
    // Cells round q up.
    EXPECT_GE(ours[d], value * (1 - 1e-6));
    EXPECT_LE(ours[d], 10 * value);
  }
  // The plateau of the paper: at the q whose neighbour is the crossing.
  const double q1 = std::log(2.) + log_tail_gaussian(gap_of(gnmax_log_q0(sigma, order)) + 2, sigma);
  EXPECT_NEAR(order / (sigma * sigma) - gnmax_renyi(q1, sigma, order), 5.99981308, 1e-7);
  EXPECT_LE(ours[9], 6);
}

TEST(CostTable, ManyTeachersStayCheap) {
  const CostTable table({.aggregator = Aggregator::confident_gnmax,
                         .teachers = 1'000'000,
                         .queries = 1,
                         .classes = 5,
                         .sigma = 40,
                         .threshold = 600'000,
                         .sigma_threshold = 100},
                        8);
  std::vector<double> distances(2000, 0.0);
  table.add_sensitivities(CostTable::place(Counts{900'000, 100'000, 0, 0, 0}, 900'000), distances);
  EXPECT_TRUE(std::is_sorted(distances.begin(), distances.end()));
}

// What makes a sensitivity smooth: d + 1 votes from a neighbour reach all that d votes reach from
// here, also where one cell holds several margins.
TEST(CostTable, NeighboursReachAsMuchWithOneVoteMoreWhereCellsAreWide) {
  for (const Aggregator aggregator : {Aggregator::confident_gnmax, Aggregator::interactive}) {
    const CostTable table({.aggregator = aggregator,
                           .teachers = 2000,
                           .queries = 1,
                           .classes = 2,
                           .sigma = 40,
                           .threshold = 1600,
                           .sigma_threshold = 150},
                          8);
    const auto reach = [&](std::int64_t votes) {
      std::vector<double> distances(300, 0.0);
      table.add_sensitivities(CostTable::place(Counts{votes, 2000 - votes}, votes), distances);
      return distances;
    };
    for (std::int64_t votes = 1390; votes < 1410; ++votes) {
      const auto here = reach(votes), there = reach(votes - 1);
      for (std::size_t d = 0; d + 1 < here.size(); ++d) {
        EXPECT_LE(here[d], there[d + 1]) << votes << " " << d;
        EXPECT_LE(there[d], here[d + 1]) << votes << " " << d;
      }
    }
  }
}

}  // namespace sotto::pate::cost_table_test
