#include "sotto/noise/bulk_gaussian.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "sotto/core/error.hpp"
#include "support/statistics.hpp"

namespace sotto::detail {
void gaussian_block_avx512(float* block, float sigma, const float* const soon[2]);
void gaussian_block_avx2(float* block, float sigma, const float* const soon[2]);
void gaussian_block_portable(float* block, float sigma, const float* const soon[2]);
}  // namespace sotto::detail

namespace sotto::bulk_gaussian_test {

using test::kAlpha;

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

std::vector<float> drawn(std::size_t n, std::uint64_t seed, float sigma = 1, int threads = 0) {
  std::vector<float> out(n);
  Rng rng = Rng::insecure_seed(seed);
  fill_gaussian(rng, out, sigma, threads);
  return out;
}

double ks(const std::vector<float>& x, double sigma) {
  return test::ks_p({x.begin(), x.end()}, [=](double v) { return normal_cdf(v / sigma); });
}

// |correlation| of two sequences of variance v and mean 0 is below 4.9/√n with α = 1e-6.
template <class F>
double correlation(const std::vector<float>& x, std::size_t lag, const F& f) {
  double sum = 0, square = 0;
  for (std::size_t i = 0; i + lag < x.size(); ++i) {
    sum += f(x[i]) * f(x[i + lag]);
    square += f(x[i]) * f(x[i]);
  }
  return sum / square * std::sqrt(static_cast<double>(x.size()));
}

// The kernel against Box–Muller in double, word for word.
void check_kernel(void (*kernel)(float*, float, const float* const*)) {
  Rng rng = Rng::insecure_seed(9);
  const std::uint32_t edges[] = {1u << 16,    (1u << 16) + 1, 1u << 24,    (1u << 24) + 1,
                                 0x7fffffffu, 0x80000000u,    0xbfffffffu, 0xc0000000u,
                                 0xc0000001u, 0xfffffffeu,    0xffffffffu};
  double worst = 0;
  for (int round = 0; round < 400; ++round) {
    std::vector<float> block(1024);
    std::vector<std::uint32_t> words(1024);
    for (std::size_t i = 0; i < 1024; ++i) {
      words[i] = static_cast<std::uint32_t>(rng.next_u64());
      if (i < 512 && i % 7 == 0)
        words[i] = edges[(i + static_cast<std::size_t>(round)) % std::size(edges)];
      if (i >= 512 && i % 5 == 0)
        words[i] = edges[(i + static_cast<std::size_t>(round)) % std::size(edges)] << 2;
      if (i < 512 && words[i] < 1u << 16) words[i] += 1u << 16;
      block[i] = std::bit_cast<float>(words[i]);
    }
    const float* const soon[] = {block.data(), nullptr};  // fetching changes nothing
    kernel(block.data(), 2.0f, soon);
    for (std::size_t i = 0; i < 512; ++i) {
      const double r = 2 * std::sqrt(-2 * std::log((words[i] + 0.5) * 0x1p-32));
      const double x = (static_cast<double>(static_cast<std::int32_t>(words[i + 512] << 2)) + 2) *
                       0x1p-32 * std::numbers::pi / 2;
      const double sign = words[i + 512] >> 31 != 0 ? -r : r;
      const bool swap = (words[i + 512] >> 30 & 1) != 0;
      const double first = sign * (swap ? std::sin(x) : std::cos(x)),
                   second = sign * (swap ? std::cos(x) : std::sin(x));
      worst =
          std::max({worst, std::abs(block[i] - first) / r, std::abs(block[i + 512] - second) / r});
    }
  }
  EXPECT_LT(worst, 4e-7);
}

TEST(BulkGaussian, IsNormalByKolmogorovSmirnov) {
  for (float sigma : {1.0f, 1e-3f, 250.0f})
    EXPECT_GT(ks(drawn(4'000'000, 1, sigma), static_cast<double>(sigma)), kAlpha) << sigma;
}

TEST(BulkGaussian, AWrongScaleIsCaught) {
  EXPECT_LT(ks(drawn(4'000'000, 1, 1.01f), 1), kAlpha);
  EXPECT_LT(ks(drawn(4'000'000, 1, 0.99f), 1), kAlpha);
}

TEST(BulkGaussian, TailsAreRight) {
  const auto x = drawn(std::size_t{1} << 26, 2);
  for (double t : {3.0, 4.0, 4.5, 4.7, 5.0, 5.3}) {
    for (double sign : {-1.0, 1.0}) {
      std::uint64_t beyond = 0;
      for (float v : x) beyond += sign * static_cast<double>(v) > t;
      EXPECT_GT(test::binomial_p(beyond, x.size(), normal_cdf(-t)), kAlpha) << sign * t;
    }
  }
}

TEST(BulkGaussian, DrawsAreUncorrelatedAlsoInTheirSizes) {
  const auto x = drawn(8'000'000, 3);
  for (std::size_t lag : {1u, 2u, 8u, 511u, 512u, 513u, 1024u, 4096u, 65536u}) {
    EXPECT_LT(std::abs(correlation(x, lag, [](float v) { return static_cast<double>(v); })), 4.9)
        << lag;
    EXPECT_LT(std::abs(correlation(x, lag, [](float v) { return static_cast<double>(v) * v - 1; })),
              4.9)
        << lag;
  }
}

TEST(BulkGaussian, DoesNotDependOnTheNumberOfThreads) {
  const auto one = drawn(1'000'003, 4, 1.5f, 1);
  for (int threads : {0, 2, 3, 7})
    EXPECT_TRUE(drawn(1'000'003, 4, 1.5f, threads) == one) << threads;
}

TEST(BulkGaussian, SameSeedSameFloatsAndFillsFollowOn) {
  EXPECT_TRUE(drawn(5000, 5) == drawn(5000, 5));
  EXPECT_FALSE(drawn(5000, 5) == drawn(5000, 6));
  Rng rng = Rng::insecure_seed(5);
  std::vector<float> first(5000), second(5000);
  fill_gaussian(rng, first, 1);
  fill_gaussian(rng, second, 1);
  EXPECT_FALSE(first == second);
}

TEST(BulkGaussian, ChunksInAnyOrderAreTheFill) {
  constexpr std::size_t kSize = GaussianChunks::kSize, kDraws = 5 * kSize + 77;
  Rng rng = Rng::insecure_seed(8);
  const GaussianChunks chunks(rng, 1.5f);
  std::vector<float> x(kDraws);
  for (std::size_t chunk = 6; chunk-- > 0;)
    chunks.fill(chunk,
                std::span(x).subspan(chunk * kSize, std::min(kSize, kDraws - chunk * kSize)));
  EXPECT_TRUE(x == drawn(kDraws, 8, 1.5f));
  EXPECT_THROW(chunks.fill(0, x), InvalidArgument);
}

TEST(BulkGaussian, VisitedDrawsAreTheFill) {
  constexpr std::size_t kSize = GaussianChunks::kSize;
  Rng rng = Rng::insecure_seed(8);
  const GaussianChunks chunks(rng, 1.5f);
  for (const std::size_t count :
       {kSize, kSize - 1, std::size_t{1024}, std::size_t{5001}, std::size_t{1}, std::size_t{0}}) {
    for (std::size_t chunk = 0; chunk < 8; ++chunk) {
      std::vector<float> filled(count), visited;
      chunks.fill(chunk, filled);
      chunks.visit(chunk, count, [&](std::size_t first, std::span<const float> noise) {
        EXPECT_EQ(first, visited.size());
        visited.insert(visited.end(), noise.begin(), noise.end());
        return GaussianChunks::Soon{noise.data(), nullptr};
      });
      EXPECT_TRUE(visited == filled) << chunk << " " << count;
    }
  }
  const auto none = [](std::size_t, std::span<const float>) { return GaussianChunks::Soon{}; };
  EXPECT_THROW(chunks.visit(0, kSize + 1, none), InvalidArgument);
}

TEST(BulkGaussian, ChunksHaveDifferentNoise) {
  const auto x = drawn(3 * 65536, 7);
  for (std::size_t i = 0; i < 1000; ++i) {
    EXPECT_NE(x[i], x[i + 65536]);
    EXPECT_NE(x[i + 65536], x[i + 2 * 65536]);
  }
}

TEST(BulkGaussian, AnyLengthWorks) {
  for (std::size_t n : {0u, 1u, 2u, 1023u, 1024u, 1025u, 65535u, 65537u}) {
    for (float v : drawn(n, 8)) ASSERT_TRUE(std::isfinite(v) && v != 0);
  }
}

TEST(BulkGaussian, KernelsAgreeWithDoubleArithmeticWordForWord) {
  check_kernel(detail::gaussian_block_portable);
#if defined(__x86_64__)
  const std::string used = bulk_gaussian_kernel();
  if (used == "avx512") check_kernel(detail::gaussian_block_avx512);
  if (used != "portable") check_kernel(detail::gaussian_block_avx2);
#endif
}

TEST(BulkGaussian, ZeroSigmaGivesZeros) {
  for (float v : drawn(2000, 10, 0)) ASSERT_EQ(v, 0);
}

TEST(BulkGaussian, RefusesWhatHasNoMeaning) {
  Rng rng = Rng::insecure_seed(11);
  std::vector<float> out(4);
  for (float sigma : {-1.0f, HUGE_VALF, std::nanf("")})
    EXPECT_THROW(fill_gaussian(rng, out, sigma), InvalidArgument);
  EXPECT_THROW(fill_gaussian(rng, out, 1, -1), InvalidArgument);
}

}  // namespace sotto::bulk_gaussian_test
