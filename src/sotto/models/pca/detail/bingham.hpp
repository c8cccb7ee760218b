// A direction drawn from the exponential mechanism: density ∝ exp(η vᵀCv) on the sphere.
//
// What       BinghamPlan: one unit vector that likes the large directions of a scatter matrix C =
//            Σ y yᵀ of points in the unit ball.
// Guarantee  ε-DP for neighbours under the relation with at most `contributions` points of a unit:
//            vᵀCv moves by (vᵀy)² ∈ [0, 1] for a point that comes or goes, for all v the same way,
//            so that η = ε; by at most 1 either way for one that is replaced, η = ε/2; k points of
//            a unit: η/k. Events: pure, and the covering noise.
// Method     Exact rejection [KGM18]: with A = η(τI − C) ⪰ 0 and b in [1, q], an angular central
//            Gaussian direction v, Ω = I + 2A/b, is kept with probability
//            exp(−u + (q/2)·ln(vᵀΩv) − h), u = vᵀAv, h at least the largest value of the other two.
//            No chain, no convergence to hope for. The eigenvectors that make Ω are a proposal and
//            nothing else: how far they are from being orthogonal and from C is measured and added
//            to h, u is taken from C itself, and vᵀΩv from the Gaussian vector. A bad solver costs
//            time; the law of what is kept does not depend on it.
// Numerics   The coin exp(−x) is exact for the computed x. Gaussians are exact on a lattice
//            (continuous_noise.hpp). C as doubles, and 64-bit products of it, are off by less than
//            2^−27 and q²·2^−36 for up to 2^26 points: η pays four times that. What rounding
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

// One draw from the density ∝ exp(vᵀSv) on the sphere, S symmetric.
Eigen::VectorXd bingham_direction(const Eigen::MatrixXd& exponent, Rng& rng);

}  // namespace sotto
