#include "sotto/models/linear/detail/noisy_gradient.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "sotto/accounting/account.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/numeric/gaussian_dp.hpp"
#include "sotto/core/record_replay.hpp"
#include "sotto/models/linear/exact_rows.hpp"
#include "sotto/models/linear/method_choice.hpp"

namespace sotto::noisy_gradient_test {

struct Data {
  std::vector<std::vector<float>> records;
  std::vector<float> targets;

  ExactRows rows() const {
    ExactRows rows(records.front().size(), 1, 1);
    for (std::size_t i = 0; i < records.size(); ++i) rows.add(records[i], targets[i]);
    return rows;
  }
};

// Two clouds on the unit sphere, classes by the first coordinate.
Data clouds(std::size_t n, std::size_t classes = 2) {
  std::mt19937 rng(11);
  std::normal_distribution<float> normal(0, 0.3f);
  Data data;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t c = i % classes;
    std::vector<float> x = {normal(rng), normal(rng), normal(rng)};
    x[c % 3] += 0.7f;
    data.records.push_back(x);
    data.targets.push_back(classes == 2 ? (c == 0 ? -1.0f : 1.0f) : static_cast<float>(c));
  }
  return data;
}

double accuracy(const LinearModel& model, const Data& data) {
  double right = 0;
  for (std::size_t i = 0; i < data.records.size(); ++i) {
    const std::size_t truth = model.outputs == 1 ? (data.targets[i] > 0 ? 1 : 0)
                                                 : static_cast<std::size_t>(data.targets[i]);
    right += model.classify(data.records[i]) == truth ? 1 : 0;
  }
  return right / static_cast<double>(data.records.size());
}

std::optional<Event> run_on(const NoisyGradientPlan& plan, const Data& data, Rng& rng) {
  return plan.run(data.rows(), rng).event;
}

TEST(NoisyGradient, LearnsTwoCloudsAndThree) {
  Rng rng = Rng::insecure_seed(1);
  const Data two = clouds(4000), three = clouds(6000, 3);
  const NoisyGradientPlan binary({}, Relation::add_remove, 4000, 4, 0.5);
  EXPECT_GT(accuracy(binary.run(two.rows(), rng).value, two), 0.93);
  const NoisyGradientPlan softmax({.outputs = 3}, Relation::add_remove, 6000, 4, 0.5);
  EXPECT_GT(accuracy(softmax.run(three.rows(), rng).value, three), 0.85);
  const NoisyGradientPlan svm({.loss = Loss::huber_hinge, .outputs = 3}, Relation::replace_one,
                              6000, 4, 0.5);
  EXPECT_GT(accuracy(svm.run(three.rows(), rng).value, three), 0.85);
}

TEST(NoisyGradient, EventCostsTheBudgetAndNotMore) {
  for (Relation relation : {Relation::add_remove, Relation::replace_one, Relation::zero_out}) {
    const NoisyGradientPlan plan({.iterations = 50}, relation, 1000, 4, 0.05);
    const Bound bound = epsilon(Spec{relation, {plan.event()}}, Delta(1e-5));
    // ρ = 0.05 of Gaussian noise is μ = √0.1 in Gaussian DP, whose ε is known exactly.
    const double exact = gaussian_epsilon_upper(std::sqrt(0.1), Delta(1e-5));
    EXPECT_LE(bound.upper, exact * 1.002);
    EXPECT_GE(bound.upper, exact * 0.998);
  }
}

TEST(NoisyGradient, ReplayOnNeighboursStaysWithinTheSensitivity) {
  const Data data = clouds(50);
  std::mt19937 random(3);
  for (int trial = 0; trial < 20; ++trial) {
    Data removed = data, replaced = data;
    const std::size_t i = random() % data.records.size();
    removed.records.erase(removed.records.begin() + static_cast<std::ptrdiff_t>(i));
    removed.targets.erase(removed.targets.begin() + static_cast<std::ptrdiff_t>(i));
    replaced.records[i] = {1e30f, trial % 2 == 0 ? -1e30f : 0.0f, 3.0f};
    replaced.targets[i] = -replaced.targets[i];
    const NoisyGradientPlan unbounded({.iterations = 5}, Relation::add_remove, 50, 4, 0.01);
    EXPECT_EQ(replay::check_neighbours([&](Rng& r) { return run_on(unbounded, data, r); },
                                       [&](Rng& r) { return run_on(unbounded, removed, r); },
                                       static_cast<std::uint64_t>(trial)),
              "")
        << "removed " << i;
    const NoisyGradientPlan bounded({.iterations = 5}, Relation::replace_one, 50, 4, 0.01);
    EXPECT_EQ(replay::check_neighbours([&](Rng& r) { return run_on(bounded, data, r); },
                                       [&](Rng& r) { return run_on(bounded, replaced, r); },
                                       static_cast<std::uint64_t>(trial)),
              "")
        << "replaced " << i;
  }
}

// The release is the same; what is made of it is shorter along some coordinates.
TEST(NoisyGradient, PacesShortenStepsAlongTheirCoordinates) {
  const Data data = clouds(50);
  const auto first_step = [&](std::vector<double> paces) {
    Rng rng = Rng::insecure_seed(5);
    const NoisyGradientPlan plan(
        {.iterations = 1, .learning_rate = 1, .paces = std::move(paces), .average = false},
        Relation::add_remove, 50, 4, 0.01);
    return plan.run(data.rows(), rng).value.weights;
  };
  const std::vector<double> whole = first_step({}), paced = first_step({1, 0.5, 0.25, 1});
  EXPECT_EQ(paced, (std::vector<double>{whole[0], whole[1] / 2, whole[2] / 4, whole[3]}));
  for (const std::vector<double>& wrong :
       {std::vector<double>{1, 1, 1}, {1, 1, 1, 0}, {1, 1, 1, 1.5}}) {
    EXPECT_THROW(NoisyGradientPlan({.paces = wrong}, Relation::add_remove, 50, 4, 1),
                 InvalidArgument);
  }
  for (const bool metric : {false, true}) {
    Data removed = data;
    removed.records.pop_back();
    removed.targets.pop_back();
    const NoisyGradientPlan plan({.iterations = 5, .paces = {1, 0.5, 0.5, 1}, .metric = metric},
                                 Relation::add_remove, 50, 4, 0.01);
    EXPECT_EQ(replay::check_neighbours([&](Rng& r) { return run_on(plan, data, r); },
                                       [&](Rng& r) { return run_on(plan, removed, r); }, 7),
              "");
  }
}

TEST(NoisyMetric, PacesRaiseTheRidgeOfTheirCoordinates) {
  const NoisyMetric metric(Relation::add_remove, 2, 1e6, 1);
  const int128 one = static_cast<int128>(1 / GradientRows::kSecondUnit);
  const std::vector<int128> released = {30 * one, 0, 20 * one};  // of 100 rows
  const std::vector<double> plain = metric.inverse(released, 0.5, 100, 0.1);
  EXPECT_NEAR(plain[0], 1 / (0.5 * 0.3 + 0.1), 1e-9);
  EXPECT_NEAR(plain[3], 1 / (0.5 * 0.2 + 0.1), 1e-9);
  const std::vector<double> paced =
      metric.inverse(released, 0.5, 100, 0.1, std::vector<double>{1, 0.25});
  EXPECT_NEAR(paced[0], plain[0], 1e-9);
  EXPECT_NEAR(paced[3], 1 / (0.5 * 0.2 + 0.1 / 0.25), 1e-9);
  EXPECT_NEAR(paced[1], 0, 1e-9);
}

TEST(NoisyGradient, AMetricIsChosenByPublicFactsAndCostsNoMoreThanTheBudget) {
  for (Relation relation : {Relation::add_remove, Relation::replace_one, Relation::zero_out}) {
    const NoisyGradientPlan plan({}, relation, 1000000, 4, 0.05);
    EXPECT_TRUE(plan.options().metric.value());
    EXPECT_LT(plan.options().iterations, 60u);
    const Bound bound = epsilon(Spec{relation, {plan.event()}}, Delta(1e-5));
    EXPECT_LE(bound.upper, gaussian_epsilon_upper(std::sqrt(0.1), Delta(1e-5)) * 1.002);
  }
  EXPECT_FALSE(NoisyGradientPlan({}, Relation::add_remove, 1000, 4, 0.05).options().metric.value());
  EXPECT_THROW(NoisyGradientPlan({.outputs = 3, .metric = true}, Relation::add_remove, 10, 4, 1),
               InvalidArgument);
}

// A share of few different rows would leave most of them out.
TEST(NoisyGradient, AMetricOfFewDifferentRowsCountsAllRecords) {
  const Data data = clouds(50);
  const auto first_query = [&](bool varied) {
    const NoisyGradientPlan plan({.metric = true, .varied = varied}, Relation::add_remove,
                                 std::uint64_t{1} << 20, 4, 0.01);
    return replay::record(1, [&](Rng& r) { return run_on(plan, data, r); }).queries.front().values;
  };
  const std::vector<int128> all = data.rows().second_moments(1, 1);
  const std::vector<long double> whole = first_query(false), some = first_query(true);
  ASSERT_EQ(whole.size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i)
    EXPECT_EQ(whole[i], static_cast<long double>(all[i]));
  EXPECT_LT(some.back(), whole.back());
  PublicFacts facts{.columns = std::vector<EncodedColumn>(4)};
  EXPECT_EQ(facts.row_bits(), 40);
  facts.columns = {EncodedColumn{.width = 16}, EncodedColumn{.boolean = true}};
  EXPECT_EQ(facts.row_bits(), 5);
}

TEST(NoisyGradient, StepsInAMetricFindWhatPlainStepsMissInThinDirections) {
  // The second coordinate decides, but hardly spreads.
  std::mt19937 random(5);
  std::normal_distribution<float> normal(0, 1);
  Data data;
  for (int i = 0; i < 20000; ++i) {
    const float wide = 0.3f * normal(random), thin = 0.01f * normal(random);
    data.records.push_back({wide, thin, 0.1f});
    data.targets.push_back(thin > 0 ? 1.0f : -1.0f);
  }
  Rng rng = Rng::insecure_seed(6);
  const NoisyGradientPlan plain({.iterations = 20, .metric = false}, Relation::add_remove, 20000, 4,
                                2);
  const NoisyGradientPlan bent({.metric = true}, Relation::add_remove, 20000, 4, 2);
  const double with = accuracy(bent.run(data.rows(), rng).value, data);
  EXPECT_GT(with, 0.97);
  EXPECT_GT(with, accuracy(plain.run(data.rows(), rng).value, data));
}

TEST(NoisyGradient, ReplayWithAMetricStaysWithinTheSensitivity) {
  const Data data = clouds(50);
  for (std::size_t i = 0; i < 10; ++i) {
    Data removed = data, replaced = data;
    removed.records.erase(removed.records.begin() + static_cast<std::ptrdiff_t>(i));
    removed.targets.erase(removed.targets.begin() + static_cast<std::ptrdiff_t>(i));
    replaced.records[i] = {-1e30f, 1e29f, i % 2 == 0 ? 0.0f : 1e30f};
    replaced.targets[i] = -replaced.targets[i];
    const NoisyGradientOptions options{.iterations = 5, .metric = true};
    // So many declared rows that half of the records make up the metric, and few.
    for (const std::uint64_t declared : {std::uint64_t{50}, std::uint64_t{1} << 19}) {
      const NoisyGradientPlan unbounded(options, Relation::add_remove, declared, 4, 0.01);
      EXPECT_EQ(replay::check_neighbours([&](Rng& r) { return run_on(unbounded, data, r); },
                                         [&](Rng& r) { return run_on(unbounded, removed, r); }, i),
                "");
      const NoisyGradientPlan bounded(options, Relation::replace_one, declared, 4, 0.01);
      EXPECT_EQ(replay::check_neighbours([&](Rng& r) { return run_on(bounded, data, r); },
                                         [&](Rng& r) { return run_on(bounded, replaced, r); }, i),
                "");
    }
  }
}

TEST(NoisyGradient, RefusesPlansWithoutMeaning) {
  EXPECT_THROW(NoisyGradientPlan({}, Relation::add_remove, 0, 4, 1), InvalidArgument);
  EXPECT_THROW(NoisyGradientPlan({.outputs = 0}, Relation::add_remove, 10, 4, 1), InvalidArgument);
  EXPECT_THROW(NoisyGradientPlan({.momentum = 1}, Relation::add_remove, 10, 4, 1), InvalidArgument);
  EXPECT_THROW(NoisyGradientPlan({}, Relation::add_remove, 10, 4, -1), InvalidArgument);
}

TEST(NoisyGradient, SaysWhatItDoes) {
  const NoisyGradientPlan plan({.iterations = 7}, Relation::add_remove, 10, 4, 1);
  EXPECT_NE(plan.describe().find("7 steps"), std::string::npos);
  EXPECT_GT(plan.options().learning_rate, 0);
}

}  // namespace sotto::noisy_gradient_test
