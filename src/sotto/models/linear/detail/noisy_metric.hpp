// The metric of preconditioned gradient descent: a noisy bound on the curvature of a loss over all
// records.
//
// What       M = c·S̃/n + λI, where S̃ is the second-moment matrix Σ x xᵀ with Gaussian noise, c
//            the curvature of the loss and n the declared number of rows. Steps θ ← θ − M⁻¹g need
//            far fewer releases than steps along g when columns differ in spread or are correlated.
// Guarantee  One discrete Gaussian mechanism on the upper triangle of Σ x xᵀ, of ℓ2-sensitivity k
//            (√2·k for replace_one) for a unit with k records.
// Method     ‖x xᵀ‖_F = ‖x‖² ≤ 1 for rows in the unit ball; ‖x xᵀ − x′x′ᵀ‖_F ≤ √2. λ is at least
//            σ√d·c/n, half of how far the spectrum of the noise reaches: then 2M ⪰ the Hessian of
//            the mean loss, and a few steps of length 1 descend. Negative eigenvalues of S̃ are set
//            to 0.
//            Of more than 2^18 declared rows a share is enough: S̃ then sums the records whose own
//            hash falls below the share (a public function of the record, so the sensitivity is the
//            same) and n is that share of the declared rows. Not where rows are so short that few
//            different ones are possible, of which a share says nothing about the others.
// Numerics   Sums are exact integers (gradient_rows.hpp), noise is an exact integer sampler; the
//            rest is post-processing.
// Reference  [BL88] for the bound; docs/math/linear-models.md, section "Noisy gradient descent".
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sotto/core/relation.hpp"
#include "sotto/core/rng.hpp"
#include "sotto/mechanisms/lattice_noise.hpp"
#include "sotto/models/linear/gradient_rows.hpp"

namespace sotto {

class NoisyMetric {
 public:
  // some: of very many declared rows a share is enough.
  NoisyMetric(Relation relation, std::size_t dimension, double rho, std::uint64_t contributions,
              bool some = true);

  Event event() const { return noise_.event(); }
  double sigma() const { return noise_.scale(); }

  // S̃: the upper triangle, row by row, in units of GradientRows::kSecondUnit.
  std::vector<int128> release(const GradientRows& rows, double declared_rows, Rng& rng,
                              unsigned threads) const;
  // M⁻¹, dimension × dimension, of what was released. ridge: λ is at least this. paces: public
  // numbers d_j in (0, 1] that stretch coordinates to x_j·√d_j before λ is added, that is
  // M = c·S̃/n + λ·diag(1/d); none: all 1.
  std::vector<double> inverse(const std::vector<int128>& released, double curvature,
                              double declared_rows, double ridge,
                              std::span<const double> paces = {}) const;

 private:
  double share(double declared_rows) const;  // of the records that S̃ sums

  std::size_t dimension_;
  bool some_;
  LatticeNoise noise_;
};

}  // namespace sotto
