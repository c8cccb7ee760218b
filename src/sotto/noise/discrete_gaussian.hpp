// Discrete Gaussian noise: integers with P(z) ∝ exp(−z²/(2σ²)), σ = sigma.
//
// Guarantee  Exact for uniform input words, conditioned on the stated range. Added to an integer
// query of ℓ2-sensitivity Δ it gives
//            Δ²/(2σ²)-zCDP, for the program and not only on paper.
// Numerics   sigma is taken as the dyadic fraction the double is; 2^-10 ≤ sigma ≤ 2^50, else
// InvalidArgument. Reference  [CKS20]; docs/math/exact-noise.md. Not        constant-time: the
// number of words used depends on the noise, not on data.
#pragma once

#include <cstdint>
#include <span>

#include "sotto/core/rng.hpp"
#include "sotto/noise/block_sampler.hpp"

namespace sotto {

class DiscreteGaussian {
 public:
  explicit DiscreteGaussian(double sigma);

  std::int64_t sample(Rng& rng) const { return sampler_.sample(rng); }
  void fill(Rng& rng, std::span<std::int64_t> out) const;
  double sigma() const { return sigma_; }

 private:
  double sigma_;
  detail::BlockSampler sampler_;
};

}  // namespace sotto
