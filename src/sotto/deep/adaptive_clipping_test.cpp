#include "sotto/deep/adaptive_clipping.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/deep/detail/noise_pieces.hpp"
#include "sotto/deep/noisy_descent.hpp"

namespace sotto::deep::adaptive_clipping_test {

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
  const std::int64_t n = 5 * std::int64_t{GaussianChunks::kSize} + 77;
  const auto draw = [&] {
    Rng rng = Rng::insecure_seed(3);
    std::vector<float> out(static_cast<std::size_t>(n), 0);
    for_noise_pieces(rng, n, 2.0f, [&](std::int64_t first, std::span<const float> noise) {
      for (std::size_t k = 0; k < noise.size(); ++k)
        out[static_cast<std::size_t>(first) + k] += noise[k];
      return GaussianChunks::Soon{noise.data(), noise.data()};
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

TEST(NoisyDescent, IsNoiseFirstAndDescentLater) {
  torch::manual_seed(1);
  // The second parameter begins inside of a piece, the third in another one.
  std::vector<NamedParameter> parameters = {
      {"a", torch::randn({100, 50})}, {"b", torch::randn({7})}, {"c", torch::randn({3, 10000})}};
  const auto flat = [&] {
    return torch::cat(
        {parameters[0].tensor.view({-1}), parameters[1].tensor, parameters[2].tensor.view({-1})});
  };
  const auto sum = torch::randn({35007}), before = flat().clone();
  auto noise = torch::empty({35007});
  Rng first = Rng::insecure_seed(5), second = Rng::insecure_seed(5);
  fill_gaussian(first, {noise.data_ptr<float>(), 35007}, 1.5f);
  NoisyDescent(parameters).step(second, sum, {.sigma = 1.5f, .scale = 0.5f, .rate = 0.5f});
  EXPECT_TRUE(torch::allclose(flat(), before - 0.25 * (sum + noise), 0, 1e-6));
  EXPECT_THROW(NoisyDescent(parameters).step(second, sum.narrow(0, 0, 5), {}), Error);
  EXPECT_THROW(NoisyDescent(parameters).step(second, sum, {.momentum = 0.5f}), Error);

  const auto start = flat().clone(), rolling = torch::randn({35007}), velocity = rolling.clone();
  fill_gaussian(first, {noise.data_ptr<float>(), 35007}, 1.5f);
  NoisyDescent(parameters, velocity)
      .step(second, sum, {.sigma = 1.5f, .scale = 0.5f, .rate = 0.5f, .momentum = 0.9f});
  const auto expected = 0.9 * rolling + 0.5 * (sum + noise);
  EXPECT_TRUE(torch::allclose(velocity, expected, 0, 1e-6));
  EXPECT_TRUE(torch::allclose(flat(), start - 0.5 * expected, 0, 1e-6));
}

}  // namespace sotto::deep::adaptive_clipping_test
