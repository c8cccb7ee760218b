// What objective perturbation with an exact minimiser costs.
//
// What       θ* = argmin Σℓ + (Λ/2)‖θ‖² + ⟨b, θ⟩. Pure: b with density ∝ exp(−ε′‖b‖/Δ). Gaussian: b
//            ~ N(0, σ²I).
// Guarantee  Upper bounds on ε, or on δ at a given ε, over all neighbours under the relation, rows
//            in the unit ball, exact minimiser.
// Method     The density of θ* is that of b at b(θ) = −Σ∇ℓ − Λθ, times det ∇²J. A record moves b(θ)
//            by its gradient s ⊗ x and the determinant by a factor in [1, e^k], the same k for
//            adding and for replacing a record: only one of the two factors counts.
//              k = ln(1 + c/Λ) for one output, K·ln(1 + c/Λ) for one-vs-rest, (K − 1)·ln(1 +
//              1/(KΛ)) for softmax.
//            Logistic and softmax losses have small curvature where their slope is large, so that k
//            drops out altogether once Λ ≥ free_ridge (pure), or ε ≥ 1/Λ or Λ ≥ 2σ² (Gaussian).
//            Gaussian: the loss is convex in the slopes, whose set is a polytope, hence at most the
//            largest over its vertices: δ is at most a sum of Gaussian δ's over vertices, for one
//            output and add_remove exactly that of the Gaussian mechanism.
// Numerics   Doubles; the results are raised by 1e-9 relative, far above the rounding of the few
//            operations here.
// Reference  [CMS11], [KST12], [RKW23]; docs/math/objective-perturbation.md has the proofs.
#pragma once

#include <cstddef>

#include "sotto/core/relation.hpp"
#include "sotto/models/linear/loss.hpp"

namespace sotto {

struct ObjectiveBound {
  Loss loss = Loss::logistic;
  std::size_t outputs = 1;
  Relation relation = Relation::add_remove;

  double sensitivity() const;              // Δ: how far b(θ) moves between neighbours
  double determinant(double ridge) const;  // k
  // The smallest Λ from which the determinant costs nothing for this ε′; infinite for one-vs-rest
  // and hinge.
  double free_ridge(double epsilon) const;
  // ε of the pure variant with parameter ε′.
  double epsilon(double ridge, double inner_epsilon) const;
  // δ of the Gaussian variant at ε; 1 when nothing is known.
  double delta(double ridge, double sigma, double epsilon) const;
};

}  // namespace sotto
