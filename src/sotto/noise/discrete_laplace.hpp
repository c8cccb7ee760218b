// Discrete Laplace noise: integers with P(z) ∝ exp(−|z|/scale).
//
// Guarantee  Exact for uniform input words, conditioned on the stated range. Added to an integer
// query of ℓ1-sensitivity Δ it gives
//            Δ/scale-DP, for the program and not only on paper.
// Numerics   scale is taken as the dyadic fraction the double is; 2^-10 ≤ scale ≤ 2^50, else
// InvalidArgument. Reference  [CKS20]; docs/math/exact-noise.md. Not        constant-time: the
// number of words used depends on the noise, not on data.
#pragma once

#include <cstdint>
#include <span>

#include "sotto/core/rng.hpp"
#include "sotto/noise/block_sampler.hpp"

namespace sotto {

class DiscreteLaplace {
 public:
  explicit DiscreteLaplace(double scale);

  std::int64_t sample(Rng& rng) const { return sampler_.sample(rng); }
  void fill(Rng& rng, std::span<std::int64_t> out) const;
  double scale() const { return scale_; }

 private:
  double scale_;
  detail::BlockSampler sampler_;
};

}  // namespace sotto
