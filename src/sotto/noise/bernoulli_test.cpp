#include "sotto/noise/bernoulli.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "sotto/core/error.hpp"
#include "sotto/noise/sampler_checks_test.hpp"

namespace sotto::bernoulli_test {
using test::frequency_p;
using test::kAlpha;
constexpr std::uint64_t kN = 400000;

TEST(Bernoulli, HasTheBiasItSays) {
  for (auto [p, q] : {std::pair{1, 2}, {1, 3}, {5, 7}, {999, 1000}}) {
    const double bias = static_cast<double>(p) / q;
    EXPECT_GT(frequency_p([&](Rng& r) { return bernoulli(r, p, q); }, bias, kN, 1), kAlpha);
    const uint128 big = static_cast<uint128>(1) << 90;
    EXPECT_GT(frequency_p([&](Rng& r) { return bernoulli_128(r, p * big, q * big); }, bias, kN, 2),
              kAlpha);
  }
}

TEST(Bernoulli, IsCertainAtBothEnds) {
  Rng rng = Rng::insecure_seed(3);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_FALSE(bernoulli(rng, 0, 5));
    EXPECT_TRUE(bernoulli(rng, 5, 5));
  }
}

TEST(Bernoulli, RefusesABiasOutsideZeroToOne) {
  Rng rng = Rng::insecure_seed(4);
  EXPECT_THROW(bernoulli(rng, 2, 1), InvalidArgument);
  EXPECT_THROW(bernoulli(rng, 0, 0), InvalidArgument);
  EXPECT_THROW(bernoulli_128(rng, 1, 0), InvalidArgument);
}

TEST(BernoulliExp, HasTheBiasItSaysForFractions) {
  for (auto [a, b] : {std::pair{1, 1000}, {1, 3}, {1, 1}, {3, 2}, {17, 4}, {6, 1}}) {
    EXPECT_GT(
        frequency_p([&](Rng& r) { return bernoulli_exp(r, a, b); }, std::exp(-1.0 * a / b), kN, 5),
        kAlpha);
  }
}

TEST(BernoulliExp, HasTheBiasItSaysForDoubles) {
  for (double x : {0x1p-20, 0.1, 0.5, 0.9999, 1.0, 2.75, 7.0}) {
    EXPECT_GT(frequency_p([&](Rng& r) { return bernoulli_exp(r, x); }, std::exp(-x), kN, 6), kAlpha)
        << x;
  }
}

TEST(BernoulliExp, AWrongExponentIsCaught) {
  EXPECT_LT(frequency_p([](Rng& r) { return bernoulli_exp(r, 0.52); }, std::exp(-0.5), kN, 7),
            kAlpha);
  EXPECT_LT(frequency_p([](Rng& r) { return bernoulli_exp(r, 51, 50); }, std::exp(-1), kN, 7),
            kAlpha);
}

TEST(BernoulliExp, TakesTheLargestFractionsWithoutOverflow) {
  const uint128 max = ~static_cast<uint128>(0);
  EXPECT_GT(frequency_p([&](Rng& r) { return bernoulli_exp(r, max, max); }, std::exp(-1), 50000, 8),
            kAlpha);
  EXPECT_GT(
      frequency_p([&](Rng& r) { return bernoulli_exp(r, max / 2, max); }, std::exp(-0.5), 50000, 9),
      kAlpha);
  Rng rng = Rng::insecure_seed(10);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_FALSE(bernoulli_exp(rng, max, 1));
    EXPECT_TRUE(bernoulli_exp(rng, 0, max));
    EXPECT_TRUE(bernoulli_exp(rng, 1, max));
  }
}

TEST(BernoulliExp, TakesEveryDouble) {
  Rng rng = Rng::insecure_seed(11);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_TRUE(bernoulli_exp(rng, 0.0));
    EXPECT_TRUE(bernoulli_exp(rng, std::numeric_limits<double>::denorm_min()));
    EXPECT_FALSE(bernoulli_exp(rng, std::numeric_limits<double>::max()));
    EXPECT_FALSE(bernoulli_exp(rng, std::numeric_limits<double>::infinity()));
  }
  EXPECT_THROW(bernoulli_exp(rng, -0.1), InvalidArgument);
  EXPECT_THROW(bernoulli_exp(rng, std::nan("")), InvalidArgument);
  EXPECT_THROW(bernoulli_exp(rng, 1, 0), InvalidArgument);
}

}  // namespace sotto::bernoulli_test
