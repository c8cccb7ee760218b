#include "sotto/noise/discrete_gaussian.hpp"

#include "sotto/noise/reference_samplers.hpp"

namespace sotto {

DiscreteGaussian::DiscreteGaussian(double sigma) : sigma_(sigma) {
  check_noise_scale("sigma of discrete Gaussian noise", sigma);
}

std::int64_t DiscreteGaussian::sample(Rng& rng) const {
  return reference_discrete_gaussian(rng, sigma_);
}

void DiscreteGaussian::fill(Rng& rng, std::span<std::int64_t> out) const {
  for (auto& z : out) z = sample(rng);
}

}  // namespace sotto
