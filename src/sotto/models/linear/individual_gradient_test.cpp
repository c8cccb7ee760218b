// Individual accounting in noisy gradient descent: on neighbours that replay the same results, the
// squared distances of all steps together stay within the budget of the event.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "sotto/accounting/account.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/numeric/gaussian_dp.hpp"
#include "sotto/core/record_replay.hpp"
#include "sotto/models/linear/detail/noisy_gradient.hpp"
#include "sotto/models/linear/exact_rows.hpp"

namespace sotto::individual_gradient_test {

struct Data {
  std::vector<std::vector<float>> records;
  std::vector<float> targets;

  ExactRows rows() const {
    ExactRows rows(records.front().size(), 1, 1);
    for (std::size_t i = 0; i < records.size(); ++i) rows.add(records[i], targets[i]);
    return rows;
  }
};

// Two clouds, most of them short; the classes of a few are wrong, so that their slopes stay long.
Data clouds(std::size_t n, std::size_t classes = 2, unsigned seed = 11) {
  std::mt19937 rng(seed);
  std::normal_distribution<float> normal(0, 0.1f);
  Data data;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t c = i % classes;
    std::vector<float> x = {normal(rng), normal(rng), normal(rng)};
    x[c % 3] += i % 10 == 0 ? 0.95f : 0.3f;
    data.records.push_back(x);
    const std::size_t label = i % 25 == 0 ? (c + 1) % classes : c;
    data.targets.push_back(classes == 2 ? (label == 0 ? -1.0f : 1.0f) : static_cast<float>(label));
  }
  return data;
}

std::function<std::optional<Event>(Rng&)> run_on(const NoisyGradientPlan& plan, const Data& data) {
  return [&plan, &data](Rng& rng) { return std::optional(plan.run(data.rows(), rng).event); };
}

// √Σ_t ‖q_t − q'_t‖²/σ² over all steps of two runs that go through the same results.
double whole_distance(const NoisyGradientPlan& plan, const Data& a, const Data& b,
                      std::uint64_t seed) {
  const replay::Recording first = replay::record(seed, run_on(plan, a));
  const replay::Recording second = replay::record(seed, run_on(plan, b), &first);
  double sum = 0;
  for (std::size_t t = 0; t < first.queries.size(); ++t) {
    const auto moved = static_cast<double>(
        replay::norm_of_difference(first.queries[t].values, second.queries[t].values, Norm::l2));
    sum += std::pow(moved / first.queries[t].scale, 2);
  }
  return std::sqrt(sum);
}

double mu_of(const Event& event) {
  return std::get<GdpEvent>(std::get<ComposeEvent>(event.kind()).events.front().kind()).mu;
}

struct Neighbours {
  Relation relation;
  Data other;
};

// The record that is longest and has the wrong class goes, is nulled, or is another one.
std::vector<Neighbours> neighbours_of(const Data& data, std::size_t i) {
  Data removed = data, nulled = data, replaced = data;
  removed.records.erase(removed.records.begin() + static_cast<std::ptrdiff_t>(i));
  removed.targets.erase(removed.targets.begin() + static_cast<std::ptrdiff_t>(i));
  nulled.records[i].assign(3, std::numeric_limits<float>::quiet_NaN());
  replaced.records[i] = {-1e30f, 1e30f, 3.0f};
  replaced.targets[i] = data.targets[i] > 0 ? 0.0f : 1.0f;
  if (data.targets[i] < 0 || data.targets[0] < 0) replaced.targets[i] = -data.targets[i];
  return {{Relation::add_remove, removed},
          {Relation::zero_out, nulled},
          {Relation::replace_one, replaced}};
}

TEST(IndividualGradient, TheEventCostsTheBudgetAndNotMore) {
  for (const Relation relation : {Relation::add_remove, Relation::replace_one}) {
    for (const double typical : {0.2, 0.5, 1.0}) {
      const NoisyGradientPlan plan({.iterations = 50, .typical_norm = typical}, relation, 1000, 4,
                                   0.05);
      const Bound bound = epsilon(Spec{relation, {plan.event()}}, Delta(1e-5));
      const double exact = gaussian_epsilon_upper(std::sqrt(0.1), Delta(1e-5));
      EXPECT_LE(bound.upper, exact * 1.0001);
      EXPECT_GE(bound.upper, exact * 0.998);
    }
  }
}

TEST(IndividualGradient, NeighboursReplayWithinTheSensitivityOfAStepAndTheBudgetOfTheRun) {
  for (const std::size_t outputs : {1u, 3u}) {
    const Data data = clouds(60, outputs == 1 ? 2 : 3);
    for (const std::size_t i : {0u, 1u, 10u, 25u, 50u, 51u}) {
      for (const Neighbours& n : neighbours_of(data, i)) {
        const NoisyGradientPlan plan(
            {.outputs = outputs,
             .iterations = 40,
             .typical_norm = 0.3,
             .over_budget = i % 2 == 0 ? OverBudget::drop : OverBudget::shorten},
            n.relation, 60, 4, 0.5);
        EXPECT_EQ(replay::check_neighbours(run_on(plan, data), run_on(plan, n.other), i), "");
        EXPECT_LE(whole_distance(plan, data, n.other, i), mu_of(plan.event()))
            << "record " << i << " under " << name(n.relation);
      }
    }
  }
}

TEST(IndividualGradient, AMutantThatDropsNobodyIsSeenToOverspend) {
  const Data data = clouds(60);
  for (const OverBudget rule : {OverBudget::drop, OverBudget::shorten}) {
    const NoisyGradientPlan plan({.iterations = 40, .typical_norm = 0.3, .over_budget = rule},
                                 Relation::add_remove, 60, 4, 0.5);
    // The same noise, 40 steps at 0.3² of a full one each, and no filter.
    const NoisyGradientPlan mutant(
        {.iterations = 40, .learning_rate = plan.options().learning_rate, .metric = false},
        Relation::add_remove, 60, 4, 0.5 / 0.09);
    const Data other = neighbours_of(data, 0).front().other;
    const double mu = mu_of(plan.event());
    EXPECT_LE(whole_distance(plan, data, other, 1), mu);
    EXPECT_GT(whole_distance(plan, data, other, 1), 0.8 * mu);  // nearly used up
    EXPECT_GT(whole_distance(mutant, data, other, 1), 1.2 * mu);
  }
}

TEST(IndividualGradient, AUserPaysForAllHisRecordsTogether) {
  const Data data = clouds(60);
  Data without = data;  // three copies of the worst record are one user's
  Data with = data;
  for (int copy = 0; copy < 2; ++copy) {
    with.records.push_back(data.records[0]);
    with.targets.push_back(data.targets[0]);
  }
  without.records.erase(without.records.begin());
  without.targets.erase(without.targets.begin());
  const NoisyGradientPlan plan(
      {.iterations = 40, .contributions = 3, .typical_norm = 0.3, .over_budget = OverBudget::drop},
      Relation::add_remove, 60, 4, 0.5);
  const double moved = whole_distance(plan, with, without, 1);
  EXPECT_LE(moved, mu_of(plan.event()));
  EXPECT_GT(moved, 0.8 * mu_of(plan.event()));
}

TEST(IndividualGradient, NoiseIsSmallerByTheTypicalNorm) {
  const NoisyGradientPlan uniform({.iterations = 100}, Relation::add_remove, 1000, 4, 0.05);
  const NoisyGradientPlan half({.iterations = 100, .typical_norm = 0.5}, Relation::add_remove, 1000,
                               4, 0.05);
  Rng rng = Rng::insecure_seed(1);
  const Data none = {{{0, 0, 0}}, {0}};
  const replay::Recording a = replay::record(1, run_on(uniform, none));
  const replay::Recording b = replay::record(1, run_on(half, none));
  EXPECT_NEAR(
      b.queries[0].scale / a.queries[0].scale * b.queries[0].sensitivity / a.queries[0].sensitivity,
      0.5 * std::pow(b.queries[0].sensitivity / a.queries[0].sensitivity, 2), 1e-6);
}

TEST(IndividualGradient, WithAMetricTheFilteredStepsAreComposedWithIt) {
  const NoisyGradientPlan plan({.metric = true, .typical_norm = 0.5}, Relation::add_remove, 1000, 4,
                               0.05);
  const Bound bound = epsilon(Spec{Relation::add_remove, {plan.event()}}, Delta(1e-5));
  EXPECT_LE(bound.upper, gaussian_epsilon_upper(std::sqrt(0.1), Delta(1e-5)) * 1.002);
  const Data data = clouds(60);
  for (const Neighbours& n : neighbours_of(data, 0)) {
    const NoisyGradientPlan each({.metric = true, .typical_norm = 0.5}, n.relation, 60, 4, 0.5);
    EXPECT_EQ(replay::check_neighbours(run_on(each, data), run_on(each, n.other), 1), "");
  }
}

TEST(IndividualGradient, RefusesNormsThatAreNoShare) {
  for (const double typical : {0.0, -1.0, 1.1, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW(NoisyGradientPlan({.typical_norm = typical}, Relation::add_remove, 10, 4, 1),
                 InvalidArgument);
  }
}

}  // namespace sotto::individual_gradient_test
