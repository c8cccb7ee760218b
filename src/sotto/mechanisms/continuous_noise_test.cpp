#include "sotto/mechanisms/continuous_noise.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/statistics.hpp"

namespace sotto::continuous_noise_test {

double norm(const std::vector<double>& v) {
  double square = 0;
  for (double c : v) square += c * c;
  return std::sqrt(square);
}

double gamma3_cdf(double r) { return 1 - std::exp(-r) * (1 + r + r * r / 2); }

TEST(SphericalLaplace, HasAGammaRadiusAndAUniformDirection) {
  Rng rng = Rng::insecure_seed(1);
  const SphericalLaplace noise(3, 2.5);
  std::vector<double> radius, cosine;
  for (int i = 0; i < 20000; ++i) {
    const auto z = noise.sample(rng);
    radius.push_back(norm(z) / 2.5);
    cosine.push_back(z[1] / norm(z));
  }
  EXPECT_GT(test::ks_p(radius, gamma3_cdf), test::kAlpha);
  // On the sphere in three dimensions a coordinate is uniform.
  EXPECT_GT(test::ks_p(cosine, [](double c) { return (c + 1) / 2; }), test::kAlpha);
  for (double& r : radius) r *= 1.06;  // the mutant
  EXPECT_LT(test::ks_p(radius, gamma3_cdf), test::kAlpha);
}

TEST(SphericalLaplace, IsLaplaceInOneDimension) {
  Rng rng = Rng::insecure_seed(2);
  const SphericalLaplace noise(1, 1);
  std::vector<double> sample;
  for (int i = 0; i < 20000; ++i) sample.push_back(noise.sample(rng)[0]);
  const auto cdf = [](double z) { return z < 0 ? std::exp(z) / 2 : 1 - std::exp(-z) / 2; };
  EXPECT_GT(test::ks_p(sample, cdf), test::kAlpha);
}

TEST(SphericalGaussian, IsGaussian) {
  Rng rng = Rng::insecure_seed(3);
  const SphericalGaussian noise(2, 3);
  std::vector<double> sample;
  for (int i = 0; i < 10000; ++i)
    for (double z : noise.sample(rng)) sample.push_back(z / 3);
  const auto cdf = [](double z) { return std::erfc(-z / std::sqrt(2.0)) / 2; };
  EXPECT_GT(test::ks_p(sample, cdf), test::kAlpha);
  for (double& z : sample) z *= 1.15;  // the mutant
  EXPECT_LT(test::ks_p(sample, cdf), test::kAlpha);
}

TEST(ContinuousNoise, TheStatedErrorsAreSmall) {
  for (const std::size_t d : {1u, 200u, 10000u}) {
    const SphericalLaplace laplace(d, 1);
    EXPECT_LT(laplace.error(), 1e-10 * static_cast<double>(d));
    EXPECT_LT(laplace.log_ratio(), 1e-12 * static_cast<double>(d));
    const SphericalGaussian gaussian(d, 1);
    EXPECT_LT(gaussian.error(), 1e-12 * std::sqrt(static_cast<double>(d)));
    EXPECT_LT(gaussian.log_ratio(), 1e-12 * static_cast<double>(d));
  }
}

}  // namespace sotto::continuous_noise_test
