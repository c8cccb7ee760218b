#include "sotto/mechanisms/randomized_response.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sotto/core/plan.hpp"
#include "sotto/core/record_replay.hpp"
#include "support/statistics.hpp"

namespace sotto::randomized_response_test {

using test::kAlpha;
static_assert(Plan<RandomizedResponse>);

TEST(RandomizedResponse, LawIsExactByChiSquare) {
  Rng rng = Rng::insecure_seed(1);
  for (std::uint64_t k : {2u, 3u, 10u}) {
    for (double epsilon : {0.1, 1.0, 3.7}) {
      const RandomizedResponse mechanism(Epsilon(epsilon), k);
      const int n = 100000;
      std::vector<std::uint64_t> counts(k);
      for (int i = 0; i < n; ++i) ++counts[mechanism.run(1, rng).value];
      auto law = [&](double e) {
        std::vector<double> p(k, 1 / (std::exp(e) + static_cast<double>(k) - 1));
        p[1] *= std::exp(e);
        return p;
      };
      EXPECT_GT(test::chi_square_p(counts, law(epsilon), n), kAlpha);
      EXPECT_LT(test::chi_square_p(counts, law(epsilon * 1.1 + 0.1), n), kAlpha) << "mutant";
    }
  }
}

// Exact: the odds of truth to lie are e^ε, which is all an observer can learn.
TEST(RandomizedResponse, ProbabilitiesSumToOneAndHaveTheOddsOfTheEvent) {
  for (std::uint64_t k : {2u, 5u, 1000u}) {
    for (double epsilon : {1e-6, 0.5, 10.0, 600.0}) {
      const RandomizedResponse mechanism(Epsilon(epsilon), k);
      const double p = mechanism.probability_of_truth(), q = mechanism.probability_of_other();
      EXPECT_NEAR(p + static_cast<double>(k - 1) * q, 1, 1e-12);
      EXPECT_NEAR(std::log(p) - std::log(q), epsilon, 1e-9 * (1 + epsilon));
      EXPECT_EQ(mechanism.event(), Event(RandomizedResponseEvent{epsilon, k}));
    }
  }
}

TEST(RandomizedResponse, EstimatorIsUnbiasedWithTheStatedDeviation) {
  Rng rng = Rng::insecure_seed(2);
  const RandomizedResponse mechanism(Epsilon(1), 4);
  const std::uint64_t truth[] = {5000, 3000, 1500, 500};
  std::vector<std::uint64_t> reports(4);
  for (std::uint64_t c = 0; c < 4; ++c) {
    for (std::uint64_t i = 0; i < truth[c]; ++i) ++reports[mechanism.run(c, rng).value];
  }
  const std::vector<double> estimate = mechanism.estimate(reports);
  const double deviation = mechanism.estimate_deviation(10000);
  for (std::size_t c = 0; c < 4; ++c)
    EXPECT_LT(std::fabs(estimate[c] - static_cast<double>(truth[c])), 5 * deviation);
  EXPECT_LT(deviation, 350);
}

TEST(RandomizedResponse, AuditStaysBelowTheClaimAndCatchesTooLittleNoise) {
  auto audit = [](double epsilon) {
    Rng rng = Rng::insecure_seed(3);
    const RandomizedResponse mechanism{Epsilon(epsilon)};
    const std::uint64_t n = 100000;
    std::uint64_t on_one = 0, on_zero = 0;
    for (std::uint64_t i = 0; i < n; ++i)
      on_one += mechanism.run(1, rng).value, on_zero += mechanism.run(0, rng).value;
    return std::log(test::clopper_pearson_lower(on_one, n, kAlpha / 2) /
                    test::clopper_pearson_upper(on_zero, n, kAlpha / 2));
  };
  EXPECT_LE(audit(1), 1);
  EXPECT_GT(audit(1), 0.9);
  EXPECT_GT(audit(1.3), 1) << "mutant";
}

TEST(RandomizedResponse, ReplayUsesRandomnessInTheSameWayOnEveryInput) {
  const RandomizedResponse mechanism(Epsilon(0.5), 5);
  auto run = [&](std::uint64_t x) {
    return
        [&mechanism, x](Rng& rng) -> std::optional<Event> { return mechanism.run(x, rng).event; };
  };
  for (std::uint64_t x = 0; x < 5; ++x) EXPECT_EQ(replay::check_neighbours(run(0), run(x)), "");
}

TEST(RandomizedResponse, RefusesSenselessInput) {
  Rng rng = Rng::insecure_seed(4);
  EXPECT_THROW(RandomizedResponse(Epsilon(1), 1), InvalidArgument);
  EXPECT_THROW(RandomizedResponse(Epsilon(1), 3).run(3, rng), InvalidArgument);
  EXPECT_THROW(RandomizedResponse(Epsilon(1), 3).estimate(std::vector<std::uint64_t>{1, 2}),
               InvalidArgument);
}

}  // namespace sotto::randomized_response_test
