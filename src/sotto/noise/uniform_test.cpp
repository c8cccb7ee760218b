#include "sotto/noise/uniform.hpp"

#include <gtest/gtest.h>

#include "sotto/noise/sampler_checks_test.hpp"

namespace sotto::uniform_test {

using test::frequency_p;
using test::kAlpha;

template <class Draw>
double fair_p(const Draw& draw, std::size_t n) {
  Rng rng = Rng::insecure_seed(1);
  std::vector<std::uint64_t> counts(n);
  for (int i = 0; i < 200000; ++i) ++counts.at(static_cast<std::size_t>(draw(rng)));
  return test::chi_square_p(counts, std::vector<double>(n, 1.0 / static_cast<double>(n)), 200000);
}

TEST(UniformBelow, IsFairForEveryResult) {
  for (std::size_t n : {2u, 3u, 7u, 64u, 1000u}) {
    EXPECT_GT(fair_p([&](Rng& r) { return uniform_below(r, n); }, n), kAlpha) << n;
    EXPECT_GT(fair_p([&](Rng& r) { return uniform_below_128(r, n); }, n), kAlpha) << n;
  }
}

TEST(UniformBelow, OneHasOneResult) {
  Rng rng = Rng::insecure_seed(2);
  EXPECT_EQ(uniform_below(rng, 1), 0u);
  EXPECT_TRUE(uniform_below_128(rng, 1) == 0);
}

// Where 2^64 is far from a multiple of n, taking the high half without redrawing would give some
// results double weight: for n = 3·2^62 every third result.
TEST(UniformBelow, RedrawsWhatWouldFavourSomeResults) {
  const std::uint64_t n = std::uint64_t{3} << 62;
  const auto third = [&](std::uint64_t x) { return x % 3 == 0; };
  EXPECT_GT(frequency_p([&](Rng& r) { return third(uniform_below(r, n)); }, 1.0 / 3, 200000, 3),
            kAlpha);
  const auto without_redrawing = [&](Rng& r) {
    return third(static_cast<std::uint64_t>(static_cast<uint128>(r.next_u64()) * n >> 64));
  };
  EXPECT_LT(frequency_p(without_redrawing, 1.0 / 3, 200000, 3), kAlpha);
}

TEST(UniformBelow, ReachesBeyondSixtyFourBits) {
  const uint128 n = static_cast<uint128>(3) << 100;
  for (unsigned part = 0; part < 3; ++part) {
    EXPECT_GT(
        frequency_p(
            [&](Rng& r) { return static_cast<unsigned>(uniform_below_128(r, n) >> 100) == part; },
            1.0 / 3, 100000, 4),
        kAlpha);
  }
  const uint128 word = static_cast<uint128>(1) << 64;
  EXPECT_GT(
      frequency_p([&](Rng& r) { return uniform_below_128(r, word) < word / 4; }, 0.25, 100000, 5),
      kAlpha);
  EXPECT_GT(frequency_p([&](Rng& r) { return uniform_below_128(r, word + 1) < word / 4; }, 0.25,
                        100000, 6),
            kAlpha);
}

}  // namespace sotto::uniform_test
