#include "sotto/noise/discrete_gaussian.hpp"

#include "sotto/noise/reference_samplers.hpp"

namespace sotto {
namespace {

double checked_sigma(double sigma) {
  check_noise_scale("sigma of discrete Gaussian noise", sigma);
  return sigma;
}

}  // namespace

DiscreteGaussian::DiscreteGaussian(double sigma)
    : sigma_(checked_sigma(sigma)), sampler_(detail::BlockSampler::Law::gaussian, sigma) {}

void DiscreteGaussian::fill(Rng& rng, std::span<std::int64_t> out) const {
  sampler_.fill(rng, out);
}

}  // namespace sotto
