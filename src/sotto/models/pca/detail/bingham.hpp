// A direction drawn from the exponential mechanism: density ∝ exp(η vᵀCv) on the sphere.
//
// What       BinghamPlan: one unit vector that likes the large directions of a scatter matrix C =
//            Σ y yᵀ of points in the unit ball.
// Guarantee  ε-DP for neighbours under the relation with at most `contributions` points of a unit:
//            vᵀCv moves by (vᵀy)² ∈ [0, 1] for a point that comes or goes, for all v the same way,
//            so that η = ε; by at most 1 either way for one that is replaced, η = ε/2; k points of
//            a unit: η/k. Events: pure, and the covering noise.
// Method     Exact rejection: with A = η(λ₁I − C) in the basis of its eigenvectors, eigenvalues
//            0 = a₁ ≤ a₂ ≤ …, and b with Σ 1/(b + 2aᵢ) = 1, an angular central Gaussian direction z
//            (Ω = I + 2A/b) is kept with probability exp(−u + (q/2)·ln(1 + 2u/b) − h), u = zᵀAz,
//            h the largest value of the first two terms, at u = (q − b)/2. No chain, no
//            convergence to hope for.
// Numerics   The coin exp(−x) is exact for the computed x. Gaussians are exact on a lattice
//            (continuous_noise.hpp); eigenvectors are off by at most q·2^−50 of the largest
//            eigenvalue for up to 2^26 points: η pays q·2^−19 of itself for it. What rounding
//            leaves of the result, and the cells of the lattice, is covered by 1/128 of ε
//            (covering_noise.hpp).
// Reference  [KGM18] for the envelope; [CSS13]; docs/math/pca.md.
#pragma once

#include <Eigen/Core>
#include <cstdint>

#include "sotto/core/release.hpp"
#include "sotto/core/rng.hpp"
#include "sotto/mechanisms/covering_noise.hpp"

namespace sotto {

class BinghamPlan {
 public:
  static constexpr double kMostPoints = 0x1p26;

  BinghamPlan(Relation relation, std::uint64_t contributions, double epsilon,
              std::size_t dimension);

  Event event() const;
  Relation relation() const { return relation_; }
  std::string describe() const;
  double eta() const { return eta_; }

  // scatter: C, of which `steps` is what is announced (upper triangle in whole steps of `step`,
  // entries off the diagonal times a little less than √2). basis: orthonormal columns, public, in
  // whose span the direction is wanted.
  Release<Eigen::VectorXd> run(const Eigen::MatrixXd& scatter, std::span<const int128> steps,
                               double step, const Eigen::MatrixXd& basis, Rng& rng) const;

 private:
  Relation relation_;
  double epsilon_, ideal_ = 0, eta_ = 0, sensitivity_ = 1;
  CoveringNoise cover_;
};

// One draw for a diagonal matrix: density ∝ exp(−Σ aᵢ zᵢ²) on the sphere, aᵢ ≥ 0, one of them 0.
Eigen::VectorXd bingham_direction(const Eigen::VectorXd& a, Rng& rng);

}  // namespace sotto
