// GradientNoise: makes the clipped sum of one step releasable.
//
// What       bulk   adds Gaussian floats from the cryptographic generator to the sum;
//            exact  puts the sum on an integer grid and adds exact discrete Gaussian noise there.
// Guarantee  bulk   that of the Gaussian mechanism with noise multiplier z, on paper: floats leave
//            traces in their low bits [Mir12].
//            exact  event() holds for the program from the clipped sum on: outputs are whole
//                   multiples of the grid, whatever the
//            sum, and the rounding is in the sensitivity. What rounding the sum itself has is paid
//            by the clipper's allowance (clipping.hpp): proved for the sums that the trainer makes
//            for exact noise.
// Method     exact: 2²⁶ steps to the clip norm C. Rounding moves each of d coordinates by at most ½
//            step on either side, so neighbours are at most f·2²⁶ + √d + 2 steps apart, f = 1, or 2
//            under replace_one; σ is z times that ÷ f, so the multiplier stays z and the noise
//            grows by √d/2²⁶ (2e-5 for a million parameters).
// Numerics   Steps are rounded to the nearest integer, ½ away at most. The product with 2²⁶/C is
//            one rounding in double, 2⁻⁵³ relative: below 2⁻¹⁰ step for sums up to 2¹⁷·C, in the 2.
// Reference  [CKS20], [Mir12]; docs/math/private-training.md.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "sotto/core/event.hpp"
#include "sotto/core/rng.hpp"
#include "sotto/noise/discrete_gaussian.hpp"

namespace sotto::deep {

enum class NoiseKind { bulk, exact };

std::string_view name(NoiseKind kind);
NoiseKind parse_noise_kind(std::string_view text);  // throws InvalidArgument

class GradientNoise {
 public:
  GradientNoise(NoiseKind kind, double multiplier, Relation relation, std::uint64_t dimension);

  NoiseKind kind() const { return kind_; }
  // Of one step, unsampled.
  Event event(Relation relation) const;

  // sum (floats or doubles, one dimension) → the noisy sum as floats. clip: the norm C that bounded
  // the sum; the noise follows it.
  // Announces the query.
  torch::Tensor add(const torch::Tensor& sum, double clip, Rng& rng) const;
  // Of the bulk noise on a sum clipped to C, for who adds it on the way (noisy_descent.hpp); not
  // below multiplier·C.
  float sigma(double clip) const;
  // What add() would return with exact noise, in pieces that are in the cache: for who uses it up
  // on the way, where nobody listens to the queries. Pieces come from several threads.
  using NoisyUse = std::function<void(std::int64_t first, std::span<const float> noisy)>;
  void visit_exact(const torch::Tensor& sum, double clip, Rng& rng, const NoisyUse& use) const;

 private:
  torch::Tensor add_bulk(const torch::Tensor& sum, double clip, Rng& rng) const;
  torch::Tensor add_exact(const torch::Tensor& sum, double clip, Rng& rng) const;
  void require_planned(const torch::Tensor& sum) const;
  bool near() const;

  NoiseKind kind_;
  double multiplier_;
  Relation relation_;
  std::uint64_t dimension_;
  double sensitivity_steps_ = 0;  // exact
  std::optional<DiscreteGaussian> sampler_;
};

}  // namespace sotto::deep
