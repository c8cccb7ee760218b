#include "sotto/models/linear/detail/sufficient_statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "sotto/accounting/account.hpp"
#include "sotto/core/numeric/gaussian_dp.hpp"
#include "sotto/core/record_replay.hpp"

namespace sotto::sufficient_statistics_test {

struct Data {
  std::vector<std::vector<float>> records;
  std::vector<float> targets;

  ExactRows rows() const {
    ExactRows rows(2, 1, 1);
    for (std::size_t i = 0; i < records.size(); ++i) rows.add(records[i], targets[i]);
    return rows;
  }
};

// y = 0.4·x₁ − 0.3·x₂ + 0.1 and a little noise.
Data line(std::size_t n) {
  std::mt19937 rng(7);
  std::uniform_real_distribution<float> uniform(-0.7f, 0.7f);
  Data data;
  for (std::size_t i = 0; i < n; ++i) {
    const float a = uniform(rng), b = uniform(rng);
    data.records.push_back({a, b});
    data.targets.push_back(0.4f * a - 0.3f * b + 0.1f + 0.05f * uniform(rng));
  }
  return data;
}

double r_squared(const LinearModel& model, const Data& data) {
  double mean = 0, residual = 0, total = 0;
  for (float y : data.targets) mean += y / static_cast<double>(data.targets.size());
  for (std::size_t i = 0; i < data.targets.size(); ++i) {
    const double e = data.targets[i] - model.regress(data.records[i]), t = data.targets[i] - mean;
    residual += e * e;
    total += t * t;
  }
  return 1 - residual / total;
}

TEST(SufficientStatistics, RecoversALine) {
  Rng rng = Rng::insecure_seed(5);
  const Data data = line(20000);
  const SufficientStatisticsPlan plan(Relation::replace_one, 3, 0.5);
  EXPECT_GT(r_squared(plan.run(data.rows(), rng).value, data), 0.95);
}

TEST(SufficientStatistics, TheRidgeKeepsATinyBudgetFromExploding) {
  const Data data = line(200);
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Rng rng = Rng::insecure_seed(seed);
    const SufficientStatisticsPlan plan(Relation::add_remove, 3, 1e-4);
    const LinearModel model = plan.run(data.rows(), rng).value;
    double square = 0;
    for (double w : model.weights) square += w * w;
    EXPECT_LT(square, 100) << seed;
  }
}

TEST(SufficientStatistics, EventCostsTheBudgetAndNotMore) {
  for (Relation relation : {Relation::add_remove, Relation::replace_one, Relation::zero_out}) {
    const SufficientStatisticsPlan plan(relation, 3, 0.05);
    const Bound bound = epsilon(Spec{relation, {plan.event()}}, Delta(1e-5));
    // ρ = 0.05 of Gaussian noise is μ = √0.1 in Gaussian DP, whose ε is known exactly.
    const double exact = gaussian_epsilon_upper(std::sqrt(0.1), Delta(1e-5));
    EXPECT_LE(bound.upper, exact * 1.002);
    EXPECT_GE(bound.upper, exact * 0.998);
  }
}

TEST(SufficientStatistics, ReplayOnNeighboursStaysWithinTheSensitivity) {
  const Data data = line(40);
  const SufficientStatisticsPlan unbounded(Relation::add_remove, 3, 0.1),
      bounded(Relation::replace_one, 3, 0.1);
  for (std::size_t i = 0; i < 10; ++i) {
    Data removed = data, replaced = data;
    removed.records.erase(removed.records.begin() + static_cast<std::ptrdiff_t>(i));
    removed.targets.erase(removed.targets.begin() + static_cast<std::ptrdiff_t>(i));
    replaced.records[i] = {i % 2 == 0 ? 1e20f : -1e-20f, -1e20f};
    replaced.targets[i] = i % 3 == 0 ? 1e9f : -1e9f;
    auto on = [](const SufficientStatisticsPlan& plan, const Data& d) {
      return
          [&plan, &d](Rng& rng) -> std::optional<Event> { return plan.run(d.rows(), rng).event; };
    };
    EXPECT_EQ(replay::check_neighbours(on(unbounded, data), on(unbounded, removed)), "");
    EXPECT_EQ(replay::check_neighbours(on(bounded, data), on(bounded, replaced)), "");
  }
}

}  // namespace sotto::sufficient_statistics_test
