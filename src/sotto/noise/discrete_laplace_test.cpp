#include "sotto/noise/discrete_laplace.hpp"

#include <gtest/gtest.h>

#include "sotto/core/error.hpp"
#include "sotto/noise/reference_samplers.hpp"
#include "sotto/noise/sampler_checks_test.hpp"

namespace sotto::discrete_laplace_test {

using test::frequency_p;
using test::kAlpha;
using test::laplace_weight;
using test::law_p;
constexpr std::uint64_t kN = 2'000'000;
constexpr double kGrid = 0x1.8765432100fedp39;

test::Draw draws(double scale) {
  return [sampler = DiscreteLaplace(scale)](Rng& rng) { return sampler.sample(rng); };
}
double laplace_cdf(double x) { return x < 0 ? 0.5 * std::exp(x) : 1 - 0.5 * std::exp(-x); }

std::vector<double> in_scales(double scale, std::size_t n, std::uint64_t seed) {
  std::vector<std::int64_t> z(n);
  Rng rng = Rng::insecure_seed(seed);
  DiscreteLaplace(scale).fill(rng, z);
  std::vector<double> x;
  for (auto v : z) x.push_back(static_cast<double>(v) / scale);
  return x;
}

TEST(DiscreteLaplace, LawIsExactByChiSquare) {
  for (double scale : {0.1, 0.5, 1.0, 2.7182818, 7.99, 10.0, 15.99, 16.0, 40.5}) {
    const auto reach = static_cast<std::int64_t>(14 * scale) + 1;
    EXPECT_GT(law_p(draws(scale), laplace_weight(scale), reach, kN, 1), kAlpha) << scale;
  }
}

TEST(DiscreteLaplace, ReferenceHasTheSameLaw) {
  for (double scale : {0.1, 1.0, 2.7182818, 10.0}) {
    const auto reference = [=](Rng& rng) { return reference_discrete_laplace(rng, scale); };
    EXPECT_GT(law_p(reference, laplace_weight(scale), static_cast<std::int64_t>(14 * scale) + 1,
                    300000, 2),
              kAlpha)
        << scale;
  }
}

TEST(DiscreteLaplace, AWrongScaleIsCaught) {
  for (double scale : {1.0, 10.0, 40.5}) {
    const auto reach = static_cast<std::int64_t>(14 * scale) + 1;
    EXPECT_LT(law_p(draws(scale * 1.015), laplace_weight(scale), reach, kN, 3), kAlpha) << scale;
    EXPECT_LT(law_p(draws(scale * 0.985), laplace_weight(scale), reach, kN, 3), kAlpha) << scale;
  }
}

TEST(DiscreteLaplace, OnTheFineGridItIsLaplaceByKolmogorovSmirnov) {
  EXPECT_GT(test::ks_p(in_scales(kGrid, kN, 4), laplace_cdf), kAlpha);
  EXPECT_LT(test::ks_p(in_scales(kGrid, kN, 4), [](double x) { return laplace_cdf(x / 1.02); }),
            kAlpha);  // mutant
}

TEST(DiscreteLaplace, TailsAreRight) {
  const auto x = in_scales(kGrid, 10 * kN, 5);
  for (double t : {5.0, 10.0, 13.0}) {
    for (double sign : {-1.0, 1.0}) {
      std::uint64_t beyond = 0;
      for (double v : x) beyond += sign * v > t;
      EXPECT_GT(test::binomial_p(beyond, x.size(), laplace_cdf(-t)), kAlpha) << sign * t;
    }
  }
}

// Beyond 16 scales a draw comes from the tail cell: often enough here to be seen without help.
TEST(DiscreteLaplace, ReachesIntoTheTailCell) {
  std::uint64_t beyond = 0;
  Rng rng = Rng::insecure_seed(6);
  const DiscreteLaplace sampler(2);
  constexpr std::uint64_t kDraws = 100'000'000;
  for (std::uint64_t i = 0; i < kDraws; ++i) beyond += std::abs(sampler.sample(rng)) >= 32;
  const double r = std::exp(-0.5);
  EXPECT_GT(test::binomial_p(beyond, kDraws, 2 * std::pow(r, 32) / (1 + r)), kAlpha);
  EXPECT_GT(beyond, 0u);
}

TEST(DiscreteLaplace, LowBitsOnTheFineGridAreUniform) {
  std::vector<std::uint64_t> counts(256);
  Rng rng = Rng::insecure_seed(7);
  const DiscreteLaplace sampler(kGrid);
  for (std::uint64_t i = 0; i < kN; ++i)
    ++counts[static_cast<std::uint64_t>(sampler.sample(rng)) & 255];
  EXPECT_GT(test::chi_square_p(counts, std::vector<double>(256, 1.0 / 256), kN), kAlpha);
}

TEST(DiscreteLaplace, NeighbouringOutputsHaveTheRatioPrivacyNeeds) {
  // With scale 2 the probabilities of z and z + 1 must differ by the factor e^½, at the steepest
  // point too.
  Rng rng = Rng::insecure_seed(8);
  const DiscreteLaplace sampler(2);
  std::array<std::uint64_t, 12> counts{};
  for (std::uint64_t i = 0; i < 5 * kN; ++i) {
    const std::int64_t z = sampler.sample(rng);
    if (z >= 0 && z < 12) ++counts[static_cast<std::size_t>(z)];
  }
  const double share = 1 / (1 + std::exp(-0.5));
  for (std::size_t z = 0; z + 1 < counts.size(); ++z) {
    EXPECT_GT(test::binomial_p(counts[z], counts[z] + counts[z + 1], share), kAlpha) << z;
  }
}

TEST(DiscreteLaplace, IsExactForTinyScales) {
  const double r = std::exp(-1 / 0.12);
  EXPECT_GT(
      frequency_p([d = draws(0.12)](Rng& rng) { return d(rng) != 0; }, 2 * r / (1 + r), kN, 9),
      kAlpha);
  Rng rng = Rng::insecure_seed(10);
  const DiscreteLaplace smallest(kMinNoiseScale);
  for (int i = 0; i < 100000; ++i) ASSERT_EQ(smallest.sample(rng), 0);
}

TEST(DiscreteLaplace, RefusesAScaleOutsideItsRange) {
  for (double scale : {0.0, -1.0, 0x1p-11, 0x1.0000000000001p50, HUGE_VAL, std::nan("")}) {
    EXPECT_THROW(DiscreteLaplace{scale}, InvalidArgument) << scale;
  }
}

}  // namespace sotto::discrete_laplace_test
