// Discrete Laplace noise: integers with P(z) ∝ exp(−|z|/scale).
//
// Guarantee  The law is exact for uniform input words, conditioned on |z| ≤ 2048·scale (what is
//            left out is below 2^-2900).
//            Added to an integer query of ℓ1-sensitivity Δ it gives Δ/scale-DP, for the program and
//            not only on paper.
// Method     Rejection from a histogram with integer heights, coins decided lazily and exactly
//            (block_sampler.hpp).
// Numerics   Integers only. scale is the dyadic fraction that the double is; 2^-10 ≤ scale ≤ 2^50,
//            else InvalidArgument.
//            Making one takes microseconds and 8 KiB, a draw 10 to 20 ns: make one per scale and
//            keep it. Copies share.
// Reference  [CKS20] for the law; docs/math/exact-noise.md for the proof.
// Not        constant-time: the number of words used depends on the noise, not on data.
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
