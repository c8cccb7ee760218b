#include "sotto/models/linear/detail/residual_scale.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

#include "sotto/accounting/account.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/event_json.hpp"
#include "sotto/core/numeric/gaussian_dp.hpp"
#include "sotto/core/record_replay.hpp"
#include "sotto/data/hat_basis.hpp"
#include "sotto/models/linear/detail/noisy_gradient.hpp"
#include "sotto/models/linear/exact_rows.hpp"

namespace sotto::residual_scale_test {

struct Data {
  std::vector<std::vector<float>> records;
  std::vector<float> targets;

  ExactRows rows() const {
    ExactRows rows(records.front().size(), std::sqrt(2.0) * (1 + 1e-6), 1);
    for (std::size_t i = 0; i < records.size(); ++i) rows.add(records[i], targets[i]);
    return rows;
  }
};

// One number with its hats; the target is half a function of it and a little noise around 0.3.
template <class Function>
Data numbers(std::size_t n, Function function, double noise = 0.02) {
  std::mt19937 random(17);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::normal_distribution<double> normal(0, noise);
  const HatBasis basis(Bounds(-1, 1));
  Data data;
  for (std::size_t i = 0; i < n; ++i) {
    const double t = uniform(random);
    std::array<double, HatBasis::kWidth> hats;
    basis.write(t, 1, hats);
    std::vector<float> record = {static_cast<float>(t)};
    record.insert(record.end(), hats.begin(), hats.end());
    data.records.push_back(record);
    data.targets.push_back(static_cast<float>(0.3 + function(t) / 2 + normal(random)));
  }
  return data;
}

NoisyGradientOptions regression() {
  NoisyGradientOptions options{.loss = Loss::squared, .noise_travel = 1};
  options.paces.assign(HatBasis::kWidth + 2, 0.5);
  options.paces.front() = options.paces.back() = 1;
  options.scale = GradientScale{.farther = 4, .bends = {{.first = 1, .count = HatBasis::kWidth}}};
  return options;
}

constexpr std::size_t kWidth = HatBasis::kWidth + 2;

double r2(const LinearModel& model, const Data& data) {
  double mean = 0, total = 0, left = 0;
  for (const float y : data.targets) mean += y / static_cast<double>(data.targets.size());
  for (std::size_t i = 0; i < data.targets.size(); ++i) {
    left += std::pow(model.regress(data.records[i]) - data.targets[i], 2);
    total += std::pow(data.targets[i] - mean, 2);
  }
  return 1 - left / total;
}

double bend_of(const LinearModel& model) {
  double square = 0;
  for (std::size_t j = 1; j <= HatBasis::kWidth; ++j) square += model.weights[j] * model.weights[j];
  return std::sqrt(square);
}

TEST(ResidualScale, NoLimitLetsAGradientBeLongerThanOne) {
  constexpr std::array<std::uint32_t, 8> kSquares = {0, 1, 77, 4096, 4097, 30000, 65535, 65536};
  for (const int bits : {8, 13, 20}) {
    const std::vector<float> limits = private_limits(kSquares, bits);
    EXPECT_EQ(limits[0], 0);  // a null record
    EXPECT_EQ(limits[1], kLongestSlope);
    EXPECT_EQ(limits[3], kLongestSlope);
    EXPECT_EQ(limits.back(), 1);
    const std::uint64_t full = std::uint64_t{1} << (2 * bits + 16);
    for (std::size_t i = 1; i < kSquares.size(); ++i) {
      const auto whole = static_cast<std::uint64_t>(std::ldexp(limits[i], bits));
      EXPECT_EQ(std::ldexp(static_cast<double>(whole), -bits), limits[i]);
      EXPECT_LE(whole * whole * kSquares[i], full);
      if (limits[i] < kLongestSlope) {
        EXPECT_GT((whole + 1) * (whole + 1) * kSquares[i], full);
      }
    }
  }
}

TEST(ResidualScale, ClipsWhereFewGradientsAreLonger) {
  // ν = 1/1000 and 9 coordinates: 2·(3 + 10)/1000 may be longer.
  const ResidualScale scale(Relation::add_remove, 1000, 9, 0.5, 1, 3, 1e-3);
  const auto clip = [&](std::array<double, ResidualScale::kBins> shares) {
    return scale.clip_of(shares);
  };
  EXPECT_EQ(clip({0, 0, 0, 0, 0, 0, 0.5, 0.5}), 1);
  EXPECT_EQ(clip({1, 0, 0, 0, 0, 0, 0, 0}), 0x1p-7);
  EXPECT_EQ(clip({1.01, 0, 0, -0.01, 0, 0, 0, 0}), 0x1p-7);  // noise below 0
  // Of 0.2 above 1/8 and an eighth of 0.026 above 1/4, as if it fell by a power between them.
  const double part = std::log(0.2 / 0.026) / std::log(0.2 / (0.026 / 8));
  EXPECT_NEAR(clip({0.4, 0.4, 0, 0, 0, 0.2, 0, 0}), std::exp2(part) / 8, 1e-12);
  EXPECT_EQ(clip({0.4, 0.4, 0, 0, 0, 0.174, 0.026, 0}), 0.25);
  // What is not a number is no reason to clip.
  EXPECT_EQ(clip({0, 0, 0, 0, 0, 0, 0, std::nan("")}), 1);
}

TEST(ResidualScale, EventCostsTheBudgetAndNotMore) {
  for (const Relation relation :
       {Relation::add_remove, Relation::replace_one, Relation::zero_out}) {
    for (const std::uint64_t iterations : {1, 12, 60}) {
      NoisyGradientOptions options = regression();
      options.iterations = iterations;
      const NoisyGradientPlan plan(options, relation, 1000, kWidth, 0.05);
      const double exact = gaussian_epsilon_upper(std::sqrt(0.1), Delta(1e-5));
      const Bound bound = epsilon(Spec{relation, {plan.event()}}, Delta(1e-5));
      EXPECT_LE(bound.upper, exact * 1.002);
      EXPECT_GE(bound.upper, iterations == 1 ? 0.9 * exact : exact * 0.998);
    }
  }
}

// Lattices so fine that their noise costs what a continuous one would: `sotto tune` asks for that,
// and planning with a large budget does not take long.
TEST(ResidualScale, NoiseIsFineForEveryBudget) {
  for (const double rho : {1e-9, 0.05, 50.0, 2000.0}) {
    const NoisyGradientPlan plan(regression(), Relation::add_remove, 1000, kWidth, rho);
    std::size_t seen = 0;
    const auto look = [&](const auto& self, const nlohmann::ordered_json& json) -> void {
      if (json.is_object() && json.contains("granularity") && json.contains("sigma")) {
        ++seen;
        EXPECT_GE(json["sigma"].template get<double>() / json["granularity"].template get<double>(),
                  0x1p20)
            << rho;
      }
      if (json.is_structured())
        for (const auto& part : json) self(self, part);
    };
    look(look, to_json(plan.event()));
    EXPECT_GE(seen, 3u);
  }
}

// Of one step in a metric a third is none: the last iterate is released all the same.
TEST(ResidualScale, OneStepInAMetricHasAnIterate) {
  const Data data = numbers(60, [](double t) { return t; });
  NoisyGradientOptions options = regression();
  options.metric = true;
  options.iterations = 1;
  Rng rng = Rng::insecure_seed(3);
  const NoisyGradientPlan plan(options, Relation::add_remove, 60, kWidth, 0.5);
  for (const double weight : plan.run(data.rows(), rng).value.weights)
    EXPECT_TRUE(std::isfinite(weight));
}

// Neighbours of every relation, of one record and of a user with two; the mean, three looks, a
// metric and each step are queries. They move by nearly the sensitivity, so that half of it would
// be caught.
TEST(ResidualScale, ReplayOnNeighboursStaysWithinTheSensitivityAndUsesIt) {
  const Data data = numbers(
      60, [](double t) { return t * t; }, 0.3);
  NoisyGradientOptions options = regression();
  options.iterations = 20;
  double largest = 0, of_steps = 0;
  const auto steps = [](replay::Recording all) {
    std::erase_if(all.queries,
                  [](const replay::QueryRecord& query) { return query.values.size() != kWidth; });
    return all;
  };
  for (std::size_t i = 0; i < 12; ++i) {
    Data removed = data, both = data, nulled = data, replaced = data, far = data;
    const auto at = static_cast<std::ptrdiff_t>(i);
    removed.records.erase(removed.records.begin() + at);
    removed.targets.erase(removed.targets.begin() + at);
    both.records.erase(both.records.begin() + at, both.records.begin() + at + 2);
    both.targets.erase(both.targets.begin() + at, both.targets.begin() + at + 2);
    nulled.records[i].assign(data.records[i].size(), std::nanf(""));
    far.targets[i] = 1;
    replaced.records[i].assign(data.records[i].size(), i % 2 == 0 ? 1e30f : 0.0f);
    replaced.targets[i] = -1;
    struct Case {
      Relation relation;
      std::uint64_t contributions;
      const Data &first, &second;
    };
    for (const Case& c :
         {Case{Relation::add_remove, 1, data, removed}, Case{Relation::add_remove, 2, data, both},
          Case{Relation::zero_out, 1, data, nulled},
          Case{Relation::replace_one, 1, far, replaced}}) {
      options.contributions = c.contributions;
      options.metric = i % 3 == 0;
      const NoisyGradientPlan plan(options, c.relation, 60, kWidth, 2);
      const auto run = [&](const Data& on) {
        return [&](Rng& r) { return std::optional(plan.run(on.rows(), r).event); };
      };
      const replay::Recording first = replay::record(i, run(c.first));
      const replay::Recording second = replay::record(i, run(c.second), &first);
      EXPECT_EQ(replay::difference(first, second), "") << name(c.relation);
      EXPECT_EQ(first.queries.size(), 1 + 3 + 20 + (*options.metric ? 1u : 0u));
      largest = std::max(largest, replay::largest_move(first, second));
      of_steps = std::max(of_steps, replay::largest_move(steps(first), steps(second)));
    }
  }
  EXPECT_GT(largest, 0.99);  // of the mean and the counts
  EXPECT_GT(of_steps, 0.9);
}

TEST(ResidualScale, BendsOfAPlaneStayNearZeroAndABendIsFound) {
  const Data plane = numbers(4000, [](double t) { return t; });
  const Data bent = numbers(4000, [](double t) { return std::fabs(t) * 2 - 1; });
  Rng rng = Rng::insecure_seed(3);
  const NoisyGradientPlan plan(regression(), Relation::add_remove, 4000, kWidth, 0.005);
  NoisyGradientOptions free = regression();
  free.scale->bends.clear();
  const NoisyGradientPlan whole(free, Relation::add_remove, 4000, kWidth, 0.005);
  double kept = 0, loose = 0;
  for (int round = 0; round < 5; ++round) {
    const LinearModel model = plan.run(plane.rows(), rng).value;
    EXPECT_GT(r2(model, plane), 0.95);
    kept += bend_of(model);
    loose += bend_of(whole.run(plane.rows(), rng).value);
    EXPECT_GT(r2(plan.run(bent.rows(), rng).value, bent), 0.9);
  }
  EXPECT_LT(kept, 0.7 * loose);
}

TEST(ResidualScale, TargetsThatHardlyVaryAreLearnt) {
  const Data data = numbers(
      2000, [](double t) { return 0.1 * t; }, 0.01);
  NoisyGradientOptions options = regression();
  const NoisyGradientPlan plan(options, Relation::add_remove, 2000, kWidth, 0.005);
  options.scale.reset();
  const NoisyGradientPlan before(options, Relation::add_remove, 2000, kWidth, 0.005);
  Rng rng = Rng::insecure_seed(4);
  EXPECT_GT(r2(plan.run(data.rows(), rng).value, data), 0.5);
  EXPECT_LT(r2(before.run(data.rows(), rng).value, data), 0);
}

TEST(ResidualScale, StepsInAMetricHaveNoiseThatFitsToo) {
  const Data data = numbers(
      3000, [](double t) { return 0.1 * std::fabs(t); }, 0.005);
  NoisyGradientOptions options = regression();
  options.metric = true;
  const NoisyGradientPlan plan(options, Relation::add_remove, 3000, kWidth, 0.05);
  options.scale.reset();
  const NoisyGradientPlan before(options, Relation::add_remove, 3000, kWidth, 0.05);
  EXPECT_LE(epsilon(Spec{Relation::add_remove, {plan.event()}}, Delta(1e-5)).upper,
            gaussian_epsilon_upper(std::sqrt(0.1), Delta(1e-5)) * 1.002);
  Rng rng = Rng::insecure_seed(8);
  const double with = r2(plan.run(data.rows(), rng).value, data);
  EXPECT_GT(with, 0.4);
  EXPECT_LT(r2(before.run(data.rows(), rng).value, data), with - 0.2);
}

TEST(ResidualScale, SameSeedSameModelWhateverTheThreads) {
  const Data data = numbers(9000, [](double t) { return t * t; });
  std::vector<std::vector<double>> weights;
  for (const unsigned threads : {1u, 1u, 4u}) {
    NoisyGradientOptions options = regression();
    options.threads = threads;
    Rng rng = Rng::insecure_seed(9);
    const NoisyGradientPlan plan(options, Relation::add_remove, 9000, kWidth, 0.005);
    weights.push_back(plan.run(data.rows(), rng).value.weights);
  }
  EXPECT_EQ(weights[0], weights[1]);
  EXPECT_EQ(weights[0], weights[2]);
}

TEST(ResidualScale, RefusesWhatItIsNotFor) {
  const auto refused = [](NoisyGradientOptions options) {
    EXPECT_THROW(NoisyGradientPlan(options, Relation::add_remove, 10, kWidth, 1), InvalidArgument);
  };
  NoisyGradientOptions options = regression();
  options.loss = Loss::logistic;
  refused(options);
  options = regression();
  options.typical_norm = 0.5;
  refused(options);
  options = regression();
  options.scale->bends = {{.first = kWidth, .count = 1}};
  refused(options);
  options.scale->bends = {{.first = 1, .count = std::size_t{0} - 1}};
  refused(options);
  options = regression();
  options.scale->farther = 0;
  refused(options);
}

}  // namespace sotto::residual_scale_test
