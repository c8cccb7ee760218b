// Output perturbation: minimise a regularised loss, then add noise to the minimiser.
//
// What       θ = argmin Σℓ + (Λ/2)‖θ‖², released with noise: of density ∝ exp(−ε‖z‖₂/Δ) for a pure
//            ε, Gaussian for (ε, δ) or ρ.
// Guarantee  The event: a pure ε composed with the noise that covers floating point, or one
//            discrete Gaussian.
// Method     Σℓ changes by one record's loss, whose gradient has norm ≤ L: between neighbours
//            minimisers move by at most L/Λ (2L/Λ when a record is replaced), because J is
//            Λ-strongly convex. The computed minimiser is certified to lie within γ/Λ, so that
//            Δ = (L or 2L, plus 2γ)/Λ. Rows include the intercept and lie in the unit ball; the
//            intercept is regularised like everything else. L: 1, √2 for softmax, √K for
//            one-vs-rest (convex_problem.hpp).
//            Nothing is divided by a number of records. λ = Λ/rows by a public rule unless given:
//            it balances the expected loss that noise causes, trace·rows·v/(2Λ²) with v = Λ² × the
//            variance of a coordinate, against Λ·norm²/2. γ is a public constant, above what
//            rounding takes at the minimiser of any data of up to four times the declared rows; of
//            more, the first so many are used. Every run ends with a certified minimiser
//            (minimiser.hpp).
//            Squared loss has no bounded slope and is refused; sufficient statistics serve it
//            better.
// Numerics   The query is put on a lattice; see AdditiveMechanism and CoveringNoise.
// Reference  [CMS11], [BST14]; docs/math/output-perturbation.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sotto/core/release.hpp"
#include "sotto/mechanisms/additive.hpp"
#include "sotto/mechanisms/continuous_noise.hpp"
#include "sotto/mechanisms/covering_noise.hpp"
#include "sotto/models/linear/detail/convex_problem.hpp"
#include "sotto/models/linear/exact_rows.hpp"
#include "sotto/models/linear/linear_model.hpp"

namespace sotto {

struct OutputPerturbationOptions {
  Loss loss = Loss::logistic;
  std::size_t outputs = 1;    // 1: binary; K: one per class
  double regularisation = 0;  // λ of the mean loss plus (λ/2)‖θ‖²; 0: by the rule above
  double norm = 5;            // the rule's guess of ‖θ‖
  unsigned threads = 0;
};

class OutputPerturbationPlan {
 public:
  // rows: the declared number of records; dimension: of a row, with the intercept.
  OutputPerturbationPlan(OutputPerturbationOptions options, Relation relation, std::uint64_t rows,
                         std::size_t dimension, const Budget& budget);

  Event event() const;
  Relation relation() const { return relation_; }
  std::string describe() const;
  std::vector<std::string> assumptions() const;
  double ridge() const { return ridge_; }  // Λ
  double sensitivity() const { return sensitivity_; }
  double noise_scale() const;  // of the density or σ, in units of θ

  Release<LinearModel> run(const ExactRows& rows, Rng& rng) const;

 private:
  OutputPerturbationOptions options_;
  Relation relation_;
  std::size_t dimension_, most_rows_ = 0;
  double ridge_ = 0, tolerance_ = 0, sensitivity_ = 0, epsilon_ = 0;
  std::optional<SphericalLaplace> laplace_;  // pure
  std::optional<CoveringNoise> covering_;    // pure
  std::optional<AdditiveMechanism> gaussian_;
};

// The gradient norm to which minimisers are certified: public, and four times what rounding can
// take at the minimiser of any data of up to most_rows(problem.rows), problem.rows being the
// declared number. kLongerNoise: a linear term so many times as long as problem.linear_norm is
// allowed for.
inline constexpr double kLongerNoise = 16;
double minimiser_tolerance(ProblemSize problem);
std::size_t most_rows(double declared);
// What that rests on, in words; nothing where the number of rows is public.
std::vector<std::string> minimiser_assumptions(Relation relation);

}  // namespace sotto
