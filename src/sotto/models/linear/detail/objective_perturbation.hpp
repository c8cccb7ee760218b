// Objective perturbation: add a random linear term to a regularised loss, then minimise.
//
// What       θ* = argmin Σℓ + (Λ/2)‖θ‖² + ⟨b, θ⟩. b has density ∝ exp(−ε′‖b‖₂/Δ) for a pure ε and
//            is Gaussian for (ε, δ) or ρ. What is released is a certified approximation of θ* plus
//            a little lattice noise (covering_noise.hpp) that hides what it lacks.
// Guarantee  event(): pure ε | (ε, δ) | for ρ a Gaussian composed with a small pure ε; each
//            composed with the covering noise.
// Method     The cost of the exact minimiser is objective_bound.hpp. The covering noise takes 1 %
//            of the budget.
//            Λ by a public rule unless λ = Λ/rows is given: E‖b‖/norm, where a random gradient of
//            norm ‖b‖ and the pull Λ·norm of the regulariser balance, but at least as much as makes
//            the determinant free (logistic) or cheap (an eighth of ε, hinge).
//            A given λ is raised where the determinant would eat more than half of ε. For ρ: binary
//            logistic loss only, Λ ≥ 2σ² (replace_one) or less at a price.
//            Nothing is divided by a number of records; the intercept is a regularised coordinate
//            of a row in the unit ball.
//            The randomness does not depend on data; a minimiser that cannot be certified stops the
//            run (see output_perturbation.hpp).
// Numerics   b is within a stated error of an ideal draw (continuous_noise.hpp); the covering noise
//            pays for that too.
// Reference  [CMS11], [KST12], [INSTTW19], [RKW23]; docs/math/objective-perturbation.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sotto/core/release.hpp"
#include "sotto/mechanisms/continuous_noise.hpp"
#include "sotto/mechanisms/covering_noise.hpp"
#include "sotto/models/linear/detail/objective_bound.hpp"
#include "sotto/models/linear/exact_rows.hpp"
#include "sotto/models/linear/linear_model.hpp"

namespace sotto {

struct ObjectivePerturbationOptions {
  Loss loss = Loss::logistic;
  std::size_t outputs = 1;    // 1: binary; K: one per class
  double regularisation = 0;  // λ of the mean loss plus (λ/2)‖θ‖²; 0: by the rule above
  double norm = 25;           // the rule's guess of ‖θ‖
  unsigned threads = 0;
};

class ObjectivePerturbationPlan {
 public:
  // rows: the declared number of records; dimension: of a row, with the intercept.
  ObjectivePerturbationPlan(ObjectivePerturbationOptions options, Relation relation,
                            std::uint64_t rows, std::size_t dimension, const Budget& budget);

  Event event() const;
  Relation relation() const { return bound_.relation; }
  std::string describe() const;
  std::vector<std::string> assumptions() const;
  double ridge() const { return ridge_; }  // Λ
  double noise_scale() const;              // of b: Δ/ε′ or σ
  // What the exact minimiser costs.
  const Event& ideal_event() const { return *ideal_; }

  Release<LinearModel> run(const ExactRows& rows, Rng& rng) const;

 private:
  void plan_pure(double epsilon, double asked_ridge);
  void plan_approximate(const ApproximateBudget& budget, double asked_ridge);
  void plan_zcdp(double rho, double asked_ridge);
  std::size_t size() const { return dimension_ * bound_.outputs; }

  ObjectivePerturbationOptions options_;
  ObjectiveBound bound_;
  std::size_t dimension_, most_rows_ = 0;
  double ridge_ = 0, tolerance_ = 0, longest_noise_ = 0;
  std::optional<SphericalLaplace> laplace_;    // pure
  std::optional<SphericalGaussian> gaussian_;  // else
  std::optional<Event> ideal_;
  std::optional<CoveringNoise> covering_;
};

}  // namespace sotto
