#include "sotto/noise/discrete_laplace.hpp"

#include "sotto/noise/reference_samplers.hpp"

namespace sotto {
namespace {

double checked_scale(double scale) {
  check_noise_scale("the scale of discrete Laplace noise", scale);
  return scale;
}

}  // namespace

DiscreteLaplace::DiscreteLaplace(double scale)
    : scale_(checked_scale(scale)), sampler_(detail::BlockSampler::Law::laplace, scale) {}

void DiscreteLaplace::fill(Rng& rng, std::span<std::int64_t> out) const {
  for (auto& z : out) z = sampler_.sample(rng);
}

}  // namespace sotto
