// Vectors drawn from continuous laws, with a bound on how far a computed one is from an ideal one.
//
// What       SphericalLaplace: density ∝ exp(−‖z‖₂/scale). SphericalGaussian: N(0, σ²I). For proofs
//            that need a density, such as objective perturbation, where noise is not added to the
//            result but moves a minimiser.
// Guarantee  There is an ideal vector z*, whose density is within e^{±log_ratio()} of the stated
//            law, with ‖value − z*‖₂ ≤ error() always.
//            Hence what follows from the law holds for the program once 2·log_ratio() is added to ε
//            and error() is covered by noise on a lattice (covering_noise.hpp).
// Method     Gaussian: exact discrete Gaussians on a lattice of 2^-48 σ; z* is uniform in the cell
//            around the lattice point.
//            Laplace: radius Gamma(d, scale) as a sum of d exponentials, each known to 2^-50 by an
//            exact geometric draw; direction from exact discrete Gaussians, drawn again while their
//            norm is below 2^-6 of the usual, so that a cell is a small angle.
// Numerics   error() and log_ratio() are derived in docs/math/objective-perturbation.md, "Noise
//            with a density". The samplers' truncation
//            (64σ, e^−512) is theirs to state.
// Reference  [CKS20] for the exact samplers; [CMS11] for the law.
#pragma once

#include <cstddef>
#include <vector>

#include "sotto/core/rng.hpp"

namespace sotto {

class SphericalLaplace {
 public:
  SphericalLaplace(std::size_t dimension, double scale);
  std::vector<double> sample(Rng& rng) const;
  double scale() const { return scale_; }
  double error() const;
  double log_ratio() const;

 private:
  std::size_t dimension_;
  double scale_;
};

class SphericalGaussian {
 public:
  SphericalGaussian(std::size_t dimension, double sigma);
  std::vector<double> sample(Rng& rng) const;
  double sigma() const { return sigma_; }  // at least what was asked for
  double error() const;
  double log_ratio() const;

 private:
  std::size_t dimension_;
  double sigma_, granularity_;
};

}  // namespace sotto
