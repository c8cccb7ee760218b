// Noise for vectors of lattice points: the one place where additive noise is calibrated and added.
//
// What       LatticeNoise makes an integer vector q (steps of size `granularity`) private: it
//            releases q + Z with Z exact discrete Laplace
//            (pure ε) or discrete Gaussian (ρ or (ε, δ)) on ℤ^d.
// Guarantee  For neighbours under `relation` with ‖q − q'‖₁ ≤ Δ₁ and ‖q − q'‖₂ ≤ Δ₂ the release
//            costs at most the budget; event() is what was sampled. The set of possible outputs is
//            the lattice whatever q is. Trusts the caller for Δ₁, Δ₂: every plan of this module
//            computes them from integers.
// Method     Laplace: scale = Δ₁/ε. ρ: σ = Δ₂/√(2ρ) [CKS20, Thm 14]. (ε, δ): analytic σ for
//            slightly smaller ε and δ (by about d/σ², σ in steps), which covers the difference
//            between the discrete and the continuous Gaussian; needs σ ≥ 2²⁰ steps.
// Numerics   Scales round up until the cost evaluated upwards is within the budget. Integers up to
//            2¹²⁶; nothing is rounded after the noise.
//            The samplers' truncation (64σ, e^−512) is theirs to state: docs/math/exact-noise.md.
// Reference  [CKS20], [BW18]; docs/math/additive-mechanisms.md.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "sotto/core/event.hpp"
#include "sotto/core/relation.hpp"
#include "sotto/core/rng.hpp"
#include "sotto/mechanisms/budget.hpp"
#include "sotto/mechanisms/noise_info.hpp"
#include "sotto/noise/discrete_gaussian.hpp"
#include "sotto/noise/discrete_laplace.hpp"

namespace sotto {

// How far neighbours are apart, in both norms; in steps or in natural units, as the context says.
struct Distance {
  double l1 = 0, l2 = 0;
};

class LatticeNoise {
 public:
  LatticeNoise(Relation relation, const Budget& budget, double granularity, Distance steps,
               std::size_t dimension);

  // The granularity on which noise for this budget and natural distance has 40 bits of resolution.
  static double granularity_for_budget(const Budget& budget, Distance natural,
                                       std::size_t dimension);

  Event event() const;
  Relation relation() const { return relation_; }
  std::string describe() const;
  NoiseInfo info() const { return info_times(1); }  // of one coordinate, in natural units
  NoiseInfo info_times(double factor) const;        // of a coordinate times a public factor

  double granularity() const { return granularity_; }
  double scale() const { return scale_ * granularity_; }  // b or σ, natural units
  double scale_in_steps() const { return scale_; }
  bool gaussian() const { return gaussian_; }
  std::size_t dimension() const { return dimension_; }

  // q + Z. Announces q to the generator's observer. Throws InvalidArgument unless q has `dimension`
  // coordinates.
  std::vector<int128> add(std::span<const int128> query, Rng& rng) const;

 private:
  Relation relation_;
  std::string budget_;
  double granularity_;
  bool gaussian_;
  double sensitivity_;  // steps, in the norm of the noise
  std::size_t dimension_;
  double scale_;  // steps
  std::variant<DiscreteLaplace, DiscreteGaussian> sampler_;
};

}  // namespace sotto
