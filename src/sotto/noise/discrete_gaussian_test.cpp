#include "sotto/noise/discrete_gaussian.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>

#include "sotto/core/error.hpp"
#include "sotto/noise/reference_samplers.hpp"
#include "sotto/noise/sampler_checks_test.hpp"

namespace sotto::discrete_gaussian_test {

using test::frequency_p;
using test::gaussian_weight;
using test::kAlpha;
using test::law_p;
constexpr std::uint64_t kN = 2'000'000;
constexpr double kGrid = 0x1.8765432100fedp39;

test::Draw draws(double sigma) {
  return [sampler = DiscreteGaussian(sigma)](Rng& rng) { return sampler.sample(rng); };
}
double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

std::vector<double> in_sigmas(double sigma, std::size_t n, std::uint64_t seed) {
  std::vector<std::int64_t> z(n);
  Rng rng = Rng::insecure_seed(seed);
  DiscreteGaussian(sigma).fill(rng, z);
  std::vector<double> x;
  for (auto v : z) x.push_back(static_cast<double>(v) / sigma);
  return x;
}

TEST(DiscreteGaussian, LawIsExactByChiSquare) {
  for (double sigma : {0.2, 0.5, 1.0, 2.7182818, 7.99, 10.0, 15.99, 16.0, 40.5}) {
    const auto reach = static_cast<std::int64_t>(6 * sigma) + 1;
    EXPECT_GT(law_p(draws(sigma), gaussian_weight(sigma), reach, kN, 1), kAlpha) << sigma;
  }
}

TEST(DiscreteGaussian, ReferenceHasTheSameLaw) {
  for (double sigma : {0.2, 1.0, 2.7182818, 10.0}) {
    const auto reference = [=](Rng& rng) { return reference_discrete_gaussian(rng, sigma); };
    EXPECT_GT(law_p(reference, gaussian_weight(sigma), static_cast<std::int64_t>(6 * sigma) + 1,
                    300000, 2),
              kAlpha)
        << sigma;
  }
}

TEST(DiscreteGaussian, AWrongScaleIsCaught) {
  for (double sigma : {1.0, 10.0, 40.5}) {
    const auto reach = static_cast<std::int64_t>(6 * sigma) + 1;
    EXPECT_LT(law_p(draws(sigma * 1.01), gaussian_weight(sigma), reach, kN, 3), kAlpha) << sigma;
    EXPECT_LT(law_p(draws(sigma * 0.99), gaussian_weight(sigma), reach, kN, 3), kAlpha) << sigma;
  }
}

TEST(DiscreteGaussian, OnTheFineGridItIsNormalByKolmogorovSmirnov) {
  EXPECT_GT(test::ks_p(in_sigmas(kGrid, kN, 4), normal_cdf), kAlpha);
  EXPECT_LT(test::ks_p(in_sigmas(kGrid, kN, 4), [](double x) { return normal_cdf(x / 1.02); }),
            kAlpha);  // mutant
}

TEST(DiscreteGaussian, ReferenceOnTheFineGridIsNormalToo) {
  std::vector<double> x;
  Rng rng = Rng::insecure_seed(5);
  for (int i = 0; i < 200000; ++i)
    x.push_back(static_cast<double>(reference_discrete_gaussian(rng, kGrid)) / kGrid);
  EXPECT_GT(test::ks_p(x, normal_cdf), kAlpha);
}

TEST(DiscreteGaussian, TailsAreRight) {
  const auto x = in_sigmas(kGrid, 10 * kN, 6);
  for (double t : {3.0, 4.0, 5.0}) {
    for (double sign : {-1.0, 1.0}) {
      std::uint64_t beyond = 0;
      for (double v : x) beyond += sign * v > t;
      EXPECT_GT(test::binomial_p(beyond, x.size(), normal_cdf(-t)), kAlpha) << sign * t;
    }
  }
}

TEST(DiscreteGaussian, LowBitsOnTheFineGridAreUniform) {
  std::vector<std::uint64_t> counts(256);
  Rng rng = Rng::insecure_seed(7);
  const DiscreteGaussian sampler(kGrid);
  for (std::uint64_t i = 0; i < kN; ++i)
    ++counts[static_cast<std::uint64_t>(sampler.sample(rng)) & 255];
  EXPECT_GT(test::chi_square_p(counts, std::vector<double>(256, 1.0 / 256), kN), kAlpha);
}

TEST(DiscreteGaussian, IsSymmetric) {
  for (double sigma : {3.0, kGrid}) {
    const DiscreteGaussian sampler(sigma);
    Rng rng = Rng::insecure_seed(8);
    std::uint64_t positive = 0, negative = 0;
    for (std::uint64_t i = 0; i < kN; ++i) {
      const std::int64_t z = sampler.sample(rng);
      positive += z > 0;
      negative += z < 0;
    }
    EXPECT_GT(test::binomial_p(positive, positive + negative, 0.5), kAlpha);
  }
}

TEST(DiscreteGaussian, IsExactForTinyScales) {
  // P(±1) is 2·exp(−1/(2σ²)) up to its square: about 2.7e-4 here. At the smallest scale it is below
  // e^-500000.
  const double one = std::exp(-1 / (2 * 0.2375 * 0.2375));
  EXPECT_GT(frequency_p([d = draws(0.2375)](Rng& r) { return d(r) != 0; }, 2 * one / (1 + 2 * one),
                        kN, 9),
            kAlpha);
  Rng rng = Rng::insecure_seed(10);
  const DiscreteGaussian smallest(kMinNoiseScale);
  for (int i = 0; i < 100000; ++i) ASSERT_EQ(smallest.sample(rng), 0);
}

TEST(DiscreteGaussian, FillGivesWhatSampleGives) {
  const DiscreteGaussian sampler(12.5);
  Rng a = Rng::insecure_seed(11), b = Rng::insecure_seed(11);
  std::vector<std::int64_t> filled(1000);
  sampler.fill(a, filled);
  for (auto z : filled) EXPECT_EQ(sampler.sample(b), z);
}

// Scales of gradients on their grid: blocks of 2^16 to 2^27 integers, the ends of that range and
// the scales next to it.
TEST(DiscreteGaussian, ManyDrawsAtOnceHaveTheLaw) {
  constexpr std::size_t kSlices = 400;
  for (double sigma : {0x1p18, 0x1p19, 0x1.fp20, 0x1.8765p26, 0x1.0001p27, 0x1.fffp30, 0x1p31}) {
    // Slices of a fiftieth of σ; in units of σ the lattice is finer than the test can see.
    std::vector<double> probabilities;
    for (std::size_t i = 0; i < kSlices; ++i) {
      const double from = (static_cast<double>(i) - kSlices / 2) / 50;
      probabilities.push_back(normal_cdf(from + 0.02) - normal_cdf(from));
    }
    const auto p = [&](double drawn) {
      std::vector<std::int64_t> z(kN);
      Rng rng = Rng::insecure_seed(12);
      DiscreteGaussian(drawn).fill(rng, z);
      std::vector<std::uint64_t> counts(kSlices);
      for (const auto v : z) {
        const double slice = std::floor((static_cast<double>(v) + 0.5) / sigma * 50) + kSlices / 2;
        if (slice >= 0 && slice < kSlices) ++counts[static_cast<std::size_t>(slice)];
      }
      return test::chi_square_p(counts, probabilities, kN);
    };
    EXPECT_GT(p(sigma), kAlpha) << sigma;
    EXPECT_LT(p(1.01 * sigma), kAlpha) << sigma;  // mutant
  }
}

// Whether they are many or few must not show in their law: a fill ends where its last draw is
// accepted, not where a settled coin is.
TEST(DiscreteGaussian, TheLastDrawOfAFillIsADrawLikeAnyOther) {
  constexpr double kSigma = 0x1.8765p26;
  const DiscreteGaussian sampler(kSigma);
  Rng rng = Rng::insecure_seed(13);
  for (const std::size_t size : {1u, 3u, 517u}) {
    std::vector<std::int64_t> z(size);
    std::vector<double> last;
    for (int i = 0; i < 20000; ++i) {
      sampler.fill(rng, z);
      last.push_back(static_cast<double>(z.back()) / kSigma);
    }
    EXPECT_GT(test::ks_p(last, normal_cdf), kAlpha) << size;
  }
}

TEST(DiscreteGaussian, LowBitsOfManyDrawsAreUniform) {
  for (const double sigma : {0x1p20, 0x1.8765p26}) {
    std::vector<std::int64_t> z(kN);
    Rng rng = Rng::insecure_seed(14);
    DiscreteGaussian(sigma).fill(rng, z);
    std::vector<std::uint64_t> counts(256);
    for (const auto v : z) ++counts[static_cast<std::uint64_t>(v) & 255];
    EXPECT_GT(test::chi_square_p(counts, std::vector<double>(256, 1.0 / 256), kN), kAlpha);
  }
}

TEST(DiscreteGaussian, ParentAndChildOfAForkDrawDifferentNoise) {
  const DiscreteGaussian sampler(kGrid);
  Rng rng;
  sampler.sample(rng);
  int channel[2];
  ASSERT_EQ(pipe(channel), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  std::array<std::int64_t, 8> mine{}, theirs{};
  sampler.fill(rng, mine);
  if (child == 0) _exit(write(channel[1], mine.data(), sizeof mine) == sizeof mine ? 0 : 1);
  ASSERT_EQ(read(channel[0], theirs.data(), sizeof theirs), static_cast<ssize_t>(sizeof theirs));
  waitpid(child, nullptr, 0);
  close(channel[0]);
  close(channel[1]);
  for (std::size_t i = 0; i < mine.size(); ++i) EXPECT_NE(mine[i], theirs[i]);
}

TEST(DiscreteGaussian, RefusesASigmaOutsideItsRange) {
  for (double sigma : {0.0, -1.0, 0x1p-11, 0x1.0000000000001p50, HUGE_VAL, std::nan("")}) {
    EXPECT_THROW(DiscreteGaussian{sigma}, InvalidArgument) << sigma;
  }
  EXPECT_EQ(DiscreteGaussian(0x1p50).sigma(), 0x1p50);
}

}  // namespace sotto::discrete_gaussian_test
