#include "sotto/deep/adaptive_clipping.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/deep/noise_pieces.hpp"

namespace sotto::deep {
namespace {

TEST(AdaptiveClipping, MovesTheThresholdTowardsTheQuantile) {
  Rng rng = Rng::insecure_seed(1);
  const AdaptiveClipping clip({.quantile = 0.5, .rate = 0.2, .count_noise = 5}, 1000);
  EXPECT_LT(clip.update(rng, 1, 1000, 1000), 1) << "everybody inside: too wide";
  EXPECT_GT(clip.update(rng, 1, 1000, 0), 1) << "nobody inside: too narrow";
  // Norms uniform on (0, 8): the median is 4.
  double norm = 0.1;
  for (int step = 0; step < 200; ++step)
    norm = clip.update(rng, norm, 1000, static_cast<std::int64_t>(1000 * std::min(norm / 8, 1.0)));
  EXPECT_NEAR(norm, 4, 0.3);
}

TEST(AdaptiveClipping, SplitsTheMultiplierBetweenCountAndGradient) {
  const AdaptiveClipping clip({.count_noise = 10}, 200);
  const double sigma = clip.gradient_multiplier(1.1);
  EXPECT_GT(sigma, 1.1) << "the gradient pays for the count";
  EXPECT_NEAR(1 / std::sqrt(1 / (sigma * sigma) + 1 / (20.0 * 20.0)), 1.1, 1e-12);
  EXPECT_THROW(clip.gradient_multiplier(25), InvalidArgument);
}

TEST(AdaptiveClipping, AnEmptyBatchIsStillARelease) {
  Rng rng = Rng::insecure_seed(2);
  const auto before = rng.words();
  AdaptiveClipping({.count_noise = 5}, 100).update(rng, 1, 0, 0);
  EXPECT_GT(rng.words(), before);
}

TEST(NoisePieces, CoverTheVectorOnceAndDoNotDependOnThreads) {
  const std::int64_t n = 5 * kNoisePiece + 77;
  const auto draw = [&] {
    Rng rng = Rng::insecure_seed(3);
    std::vector<float> out(static_cast<std::size_t>(n), 0);
    for_noise_pieces(rng, n, 2.0f, [&](std::int64_t first, std::span<const float> noise) {
      for (std::size_t k = 0; k < noise.size(); ++k)
        out[static_cast<std::size_t>(first) + k] += noise[k];
    });
    return out;
  };
  const auto once = draw();
  EXPECT_EQ(once, draw());
  double square = 0;
  for (const float v : once) square += static_cast<double>(v) * v;
  // The variance of n squares: a deviation of 6 standard errors has probability below 1e-8.
  EXPECT_NEAR(square / static_cast<double>(n), 4, 6 * 4 * std::sqrt(2.0 / static_cast<double>(n)));
}

}  // namespace
}  // namespace sotto::deep
