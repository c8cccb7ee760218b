#include "sotto/models/linear/detail/exponential_route.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "route_data_test.hpp"
#include "sotto/core/error.hpp"
#include "support/statistics.hpp"

namespace sotto::exponential_route_test {

std::vector<std::vector<double>> some_candidates(std::size_t outputs) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal(0, 1.5);
  std::vector<std::vector<double>> list(40, std::vector<double>(3 * outputs));
  for (auto& c : list) {
    for (double& v : c) v = normal(random);
  }
  return list;
}

// The exact law of the choice.
std::vector<double> law(const ExponentialRoutePlan& plan, const test::Records& records,
                        double epsilon, bool monotonic) {
  std::vector<double> p = plan.scores(test::rows_of(records));
  const double best = *std::max_element(p.begin(), p.end());
  double total = 0;
  for (double& v : p)
    total += v = std::exp((v - best) * epsilon / (plan.loss_range() * (monotonic ? 1 : 2)));
  for (double& v : p) v /= total;
  return p;
}

TEST(ExponentialRoute, LogRatiosOfNeighboursStayWithinEpsilonAndComeClose) {
  for (const LinearKind kind : {LinearKind::logistic, LinearKind::svm, LinearKind::linear}) {
    for (const std::size_t outputs : {1u, 3u}) {
      if (kind == LinearKind::linear && outputs > 1) continue;
      for (const Relation relation : {Relation::add_remove, Relation::replace_one}) {
        const double epsilon = 1.5;
        auto candidates = some_candidates(outputs);
        // Two opposite candidates at which one record can make the whole difference.
        for (const double sign : {-1.0, 1.0}) {
          std::vector<double> c(3 * outputs);
          for (std::size_t k = 0; k < outputs; ++k)
            for (std::size_t j = 0; j < 3; ++j) c[3 * k + j] = sign * (k == 0 ? 5.0 : -5.0);
          candidates.push_back(c);
        }
        const ExponentialRoutePlan plan(
            {.loss = loss_of(kind), .outputs = outputs, .candidates = candidates}, relation, 3,
            Budget::pure(epsilon));
        double worst = 0;
        const auto base = test::sample_records(5, kind, outputs);
        for (const auto& r : test::hostile_records(kind, outputs)) {
          for (const auto& other : test::hostile_records(kind, outputs)) {
            auto a = base;
            a.push_back(r);
            const auto b = test::neighbour(a, relation, other);
            const bool monotonic = relation != Relation::replace_one;
            const auto p = law(plan, a, epsilon, monotonic), q = law(plan, b, epsilon, monotonic);
            double low = 0, high = 0;
            for (std::size_t i = 0; i < p.size(); ++i) {
              const double ratio = std::log(p[i]) - std::log(q[i]);
              low = std::min(low, ratio);
              high = std::max(high, ratio);
            }
            worst = std::max(worst, high - low);
          }
        }
        EXPECT_LE(worst, epsilon * (1 + 1e-9)) << name(kind) << outputs << name(relation);
        EXPECT_GT(worst, epsilon / 8) << name(kind) << outputs << name(relation);
      }
    }
  }
}

TEST(ExponentialRoute, ScoresOfOneRecordLieInTheStatedRange) {
  for (const Loss loss : {Loss::logistic, Loss::huber_hinge, Loss::squared}) {
    const ExponentialRoutePlan plan({.loss = loss, .candidates = some_candidates(1)},
                                    Relation::add_remove, 3, Budget::pure(1));
    const auto kind = loss == Loss::squared ? LinearKind::linear : LinearKind::logistic;
    for (const auto& r : test::hostile_records(kind, 1)) {
      for (const double s : plan.scores(test::rows_of({r}))) {
        EXPECT_LE(s, 0);
        EXPECT_GE(s, -plan.loss_range());
      }
    }
  }
}

TEST(ExponentialRoute, DrawsByTheStatedLaw) {
  const ExponentialRoutePlan plan({.candidates = {{0, 0, 0}, {2, 0, 0}, {-2, 0, 0}}},
                                  Relation::add_remove, 3, Budget::pure(2));
  const auto records = test::sample_records(3, LinearKind::logistic, 1);
  const auto p = law(plan, records, 2, true), wrong = law(plan, records, 4, true);
  std::map<double, std::uint64_t> seen;
  Rng rng = Rng::insecure_seed(8);
  const ExactRows rows = test::rows_of(records);
  constexpr double kDraws = 40000;
  for (int i = 0; i < kDraws; ++i) ++seen[plan.run(rows, rng).value.weights[0]];
  const auto statistic = [&](const std::vector<double>& expected) {
    double sum = 0;
    const double keys[] = {0, 2, -2};
    for (int i = 0; i < 3; ++i) {
      const double e = kDraws * expected[static_cast<std::size_t>(i)];
      sum += std::pow(static_cast<double>(seen[keys[i]]) - e, 2) / e;
    }
    return sum;
  };
  // χ² with two degrees of freedom exceeds 27.6 with probability α = 1e-6.
  EXPECT_LT(statistic(p), 27.6);
  EXPECT_GT(statistic(wrong), 27.6) << "twice the epsilon must be noticed";
}

TEST(ExponentialRoute, LearnsOnAGrid) {
  Rng rng = Rng::insecure_seed(2);
  const auto two = test::sample_records(3000, LinearKind::logistic, 1);
  const ExponentialRoutePlan plan({}, Relation::add_remove, 3, Budget::pure(1));
  EXPECT_GT(test::accuracy(plan.run(test::rows_of(two), rng).value, two), 0.9);
  const auto line = test::sample_records(3000, LinearKind::linear, 1);
  const ExponentialRoutePlan regression({.loss = Loss::squared}, Relation::replace_one, 3,
                                        Budget::pure(1));
  EXPECT_GT(test::r_squared(regression.run(test::rows_of(line), rng).value, line), 0.5);
}

TEST(ExponentialRoute, GridIsSymmetricAndInTheBall) {
  for (std::size_t d = 1; d <= 5; ++d) {
    const auto grid = ball_grid(d, 2, 4096);
    EXPECT_LE(grid.size(), 4096u);
    std::vector<double> sum(d);
    for (const auto& p : grid) {
      double square = 0;
      for (std::size_t j = 0; j < d; ++j) square += p[j] * p[j], sum[j] += p[j];
      EXPECT_LE(square, 4 + 1e-9);
    }
    for (const double s : sum) EXPECT_NEAR(s, 0, 1e-9);
  }
}

TEST(ExponentialRoute, RefusesHighDimensionsAndMalformedCandidates) {
  const Budget budget = Budget::pure(1);
  EXPECT_THROW(ExponentialRoutePlan({}, Relation::add_remove, 6, budget), Unsupported);
  EXPECT_THROW(ExponentialRoutePlan({.outputs = 3}, Relation::add_remove, 3, budget), Unsupported);
  EXPECT_THROW(ExponentialRoutePlan({.candidates = {{1, 2}}}, Relation::add_remove, 3, budget),
               InvalidArgument);
  EXPECT_THROW(ExponentialRoutePlan({.candidates = {{1, 2, NAN}}}, Relation::add_remove, 3, budget),
               InvalidArgument);
}

}  // namespace sotto::exponential_route_test
