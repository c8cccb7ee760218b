#include "sotto/models/linear/detail/functional_mechanism.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "route_data_test.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/record_replay.hpp"
#include "support/statistics.hpp"

namespace sotto::functional_mechanism_test {

struct Moved {
  double second_l1 = 0, second_l2 = 0, cross_l1 = 0, cross_l2 = 0;
};

// How far the noised vectors of one record, or of a pair, are apart, in natural units.
Moved moved(const std::vector<double>& x, double y, const std::vector<double>* other, double y2) {
  Moved m;
  double l2 = 0, c2 = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = i; j < x.size(); ++j) {
      const double d = x[i] * x[j] - (other ? (*other)[i] * (*other)[j] : 0);
      m.second_l1 += std::fabs(d);
      l2 += d * d * (i == j ? 1.0 : 181.0 / 128 * 181 / 128);
    }
    const double c = y * x[i] - (other ? y2 * (*other)[i] : 0);
    m.cross_l1 += std::fabs(c);
    c2 += c * c;
  }
  m.second_l2 = std::sqrt(l2);
  m.cross_l2 = std::sqrt(c2);
  return m;
}

std::vector<double> random_row(std::size_t d, std::size_t active, std::mt19937& random) {
  std::normal_distribution<double> normal;
  std::vector<double> x(d);
  const bool flat = random() % 2;
  for (std::size_t k = 0; k < active; ++k) {
    const double v = normal(random);
    x[random() % d] = flat ? (v > 0 ? 1.0 : -1.0) : v;
  }
  double square = 0;
  for (const double v : x) square += v * v;
  for (double& v : x) v /= std::sqrt(std::max(square, 1e-300));
  return x;
}

TEST(FunctionalMechanism, NoRecordsFoundBySearchExceedTheSensitivitiesAndHalfOfThemIsRefuted) {
  std::mt19937 random(5);
  for (const std::size_t active : {2u, 4u, 6u}) {
    const std::size_t d = 6;
    Moved add, replace;
    const auto worst = [](Moved& w, const Moved& m) {
      w.second_l1 = std::max(w.second_l1, m.second_l1);
      w.second_l2 = std::max(w.second_l2, m.second_l2);
      w.cross_l1 = std::max(w.cross_l1, m.cross_l1);
      w.cross_l2 = std::max(w.cross_l2, m.cross_l2);
    };
    for (int i = 0; i < 40000; ++i) {
      const auto x = random_row(d, active, random), z = random_row(d, active, random);
      worst(add, moved(x, 1, nullptr, 0));
      worst(replace, moved(x, 1, &z, random() % 2 ? 1 : -1));
    }
    const double s = static_cast<double>(active);
    const auto compare = [&](double found, double claim) {
      EXPECT_LE(found, claim * (1 + 1e-12)) << active;
      EXPECT_GT(found, claim / 2) << active;
    };
    compare(add.second_l1, (s + 1) / 2);
    compare(add.second_l2, 1);
    compare(add.cross_l1, std::sqrt(s));
    compare(add.cross_l2, 1);
    compare(replace.second_l1, s + 1);
    compare(replace.second_l2, std::sqrt(2.0));
    compare(replace.cross_l1, 2 * std::sqrt(s));
    compare(replace.cross_l2, 2);
  }
}

TEST(FunctionalMechanism, NoiseHasTheScaleOfTheSensitivity) {
  const FunctionalPlan pure({.active = 3}, Relation::add_remove, 100, 5, Budget::pure(1));
  EXPECT_NEAR(pure.second().scale(), 2 * 2 / 1.0, 1e-6);        // (3 + 1)/2 at ε/2
  EXPECT_NEAR(pure.cross().scale(), 2 * std::sqrt(3.0), 1e-6);  //
  const FunctionalPlan rho({.contributions = 2}, Relation::replace_one, 100, 5, Budget::zcdp(0.5));
  EXPECT_NEAR(rho.second().scale(), 2 * std::sqrt(2.0) / std::sqrt(0.5), 1e-6);
  EXPECT_NEAR(rho.cross().scale(), 4 / std::sqrt(0.5), 1e-6);
}

TEST(FunctionalMechanism, LearnsRegressionAndClasses) {
  Rng rng = Rng::insecure_seed(2);
  const auto line = test::sample_records(6000, LinearKind::linear, 1);
  for (const Budget& budget : {Budget::pure(1), Budget::zcdp(0.05)}) {
    const FunctionalPlan plan({}, Relation::add_remove, 6000, 3, budget);
    EXPECT_GT(test::r_squared(plan.run(test::rows_of(line), rng).value, line), 0.85);
    const auto two = test::sample_records(6000, LinearKind::logistic, 1);
    const FunctionalPlan logistic({.loss = Loss::logistic}, Relation::replace_one, 6000, 3, budget);
    EXPECT_GT(test::accuracy(logistic.run(test::rows_of(two), rng).value, two), 0.9);
    const auto three = test::sample_records(6000, LinearKind::logistic, 3);
    const FunctionalPlan softmax({.loss = Loss::logistic, .outputs = 3}, Relation::add_remove, 6000,
                                 3, budget);
    EXPECT_GT(test::accuracy(softmax.run(test::rows_of(three), rng).value, three), 0.6);
  }
}

TEST(FunctionalMechanism, ParabolaStaysCloseToTheLoss) {
  EXPECT_NEAR(logistic_parabola(1e-3), 0.125, 1e-6);
  for (const double radius : {1.0, 4.0}) {
    const double a = logistic_parabola(radius);
    double worst = 0;
    for (double z = -radius; z <= radius; z += radius / 100) {
      const double even = std::fabs(z) / 2 + std::log1p(std::exp(-std::fabs(z)));
      worst = std::max(worst, std::fabs(even - std::log(2.0) - a * z * z));
    }
    EXPECT_LT(worst, radius == 1 ? 2e-3 : 0.12);
  }
}

TEST(FunctionalMechanism, AnIndefiniteNoisyObjectiveStillGivesAFiniteModel) {
  Rng rng = Rng::insecure_seed(4);
  const auto few = test::sample_records(3, LinearKind::linear, 1);
  const FunctionalPlan plan({}, Relation::add_remove, 3, 3, Budget::pure(0.01));
  for (int i = 0; i < 20; ++i) {
    for (const double w : plan.run(test::rows_of(few), rng).value.weights)
      EXPECT_TRUE(std::isfinite(w));
  }
}

// The noise on the target sums, tested by its own variance; a plan with half the noise must fail.
TEST(FunctionalMechanism, ReleasesNoiseOfTheStatedSize) {
  const auto check = [](double claimed, const FunctionalPlan& plan) {
    std::vector<double> draws;
    const auto data = test::rows_of({{{0.5f, 0.5f}, 1}});
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
      const auto recording = replay::record(
          seed, [&](Rng& rng) -> std::optional<Event> { return plan.run(data, rng).event; });
      const auto& q = recording.queries.at(1);
      for (std::size_t j = 0; j < q.values.size(); ++j)
        draws.push_back(static_cast<double>(q.result[j] - q.values[j]) * 0x1p-32);
    }
    double mean_size = 0;
    for (const double z : draws) mean_size += std::fabs(z) / static_cast<double>(draws.size());
    // |Laplace| has mean and deviation b: six deviations of the mean are far beyond α = 1e-6 (4.9).
    return std::fabs(mean_size / claimed - 1) < 6 / std::sqrt(static_cast<double>(draws.size()));
  };
  const FunctionalPlan right({}, Relation::add_remove, 10, 3, Budget::pure(1));
  const FunctionalPlan mutant({}, Relation::add_remove, 10, 3, Budget::pure(2));
  EXPECT_TRUE(check(right.cross().scale(), right));
  EXPECT_FALSE(check(right.cross().scale(), mutant));
}

TEST(FunctionalMechanism, RefusesWhatItCannotDo) {
  const Budget budget = Budget::pure(1);
  EXPECT_THROW(FunctionalPlan({.loss = Loss::huber_hinge}, Relation::add_remove, 10, 3, budget),
               Unsupported);
  EXPECT_THROW(FunctionalPlan({}, Relation::add_remove, 10, 4000, budget), Unsupported);
  EXPECT_THROW(FunctionalPlan({}, Relation::add_remove, 0, 3, budget), InvalidArgument);
  EXPECT_THROW(FunctionalPlan({}, Relation::add_remove, 10, 3, Budget::approximate(1, 1e-6)),
               InvalidArgument);
  Rng rng = Rng::insecure_seed(1);
  const FunctionalPlan sparse({.active = 2}, Relation::add_remove, 10, 3, budget);
  EXPECT_ANY_THROW(sparse.run(test::rows_of({{{0.5f, 0.5f}, 1}}), rng)) << "three coordinates";
}

}  // namespace sotto::functional_mechanism_test
