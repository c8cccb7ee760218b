// Discrete Gaussian noise: integers with P(z) ∝ exp(−z²/(2σ²)), σ = sigma.
//
// Guarantee  The law is exact for uniform input words, conditioned on |z| ≤ 64σ (what is left out
//            is below 2^-2900).
//            Added to an integer query of ℓ2-sensitivity Δ it gives Δ²/(2σ²)-zCDP, for the program
//            and not only on paper.
// Method     Rejection from a histogram with integer heights, coins decided lazily and exactly
//            (block_sampler.hpp).
// Numerics   Integers only. σ is the dyadic fraction that the double is; 2^-10 ≤ σ ≤ 2^50, else
//            InvalidArgument.
//            Making one takes microseconds and 8 KiB, a draw 10 to 20 ns, or 4 ns of many for 2^19
//            ≤ σ < 2^31: make one per σ and keep it. Copies share.
// Reference  [CKS20] for the law; docs/math/exact-noise.md for the proof.
// Not        constant-time: the number of words used depends on the noise, not on data.
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
