#include "sotto/noise/discrete_laplace.hpp"

#include "sotto/noise/reference_samplers.hpp"

namespace sotto {

DiscreteLaplace::DiscreteLaplace(double scale) : scale_(scale) {
  check_noise_scale("the scale of discrete Laplace noise", scale);
}

std::int64_t DiscreteLaplace::sample(Rng& rng) const {
  return reference_discrete_laplace(rng, scale_);
}

void DiscreteLaplace::fill(Rng& rng, std::span<std::int64_t> out) const {
  for (auto& z : out) z = sample(rng);
}

}  // namespace sotto
