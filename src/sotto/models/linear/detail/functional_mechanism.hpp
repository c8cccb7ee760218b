// Functional mechanism: noise on the coefficients of a quadratic objective, then minimise that.
//
// What       The loss of a data set is replaced by a polynomial of degree 2 in θ. Its coefficients,
//            second moments Σ x xᵀ and target sums
//            Σ t ⊗ x, get noise once; the noisy polynomial, made convex, is minimised. Serves
//            squared, logistic and softmax loss.
// Guarantee  Composition of two lattice mechanisms (event()): discrete Laplace for a pure ε,
//            discrete Gaussian for a ρ.
// Method     Squared loss is such a polynomial. Logistic: ln(1 + e^{−yz}) = −yz/2 + ln 2cosh(z/2),
//            the even part replaced by its parabola through the Chebyshev nodes of [−radius,
//            radius]. Softmax: the degree-2 expansion at 0 with the same correction.
//            Rows lie in the unit ball and have at most s = `active` coordinates other than 0, so
//            ‖x‖₁ ≤ √s; t is y, |y| ≤ 1, or the unit vector of the class. Sensitivities, add_remove
//            and zero_out | replace_one, k times as much for k contributions:
//              Σ x xᵀ, triangle, ℓ1             (‖x‖₁² + ‖x‖₂²)/2 ≤ (s + 1)/2     | s + 1
//              Σ x xᵀ, entries off the diagonal times 181/128 < √2, ℓ2  ‖x‖² ≤ 1   | √2
//              Σ t ⊗ x, ℓ1                      √s                                 | 2√s
//              Σ t ⊗ x, ℓ2                      1                                  | 2
//            Each takes half of the budget. (The published Δ, 2(d + 1)², holds but is up to four
//            times too large for the ball, and many times for sparse rows.)
//            Afterwards eigenvalues below 0 are trimmed and a ridge at the noise's own size is
//            added: post-processing.
// Numerics   The coefficients are exact integers (exact_rows.hpp), so is the noise. s is checked on
//            every row: more is an internal error.
// Reference  [ZZXYW12]; docs/math/functional-mechanism.md.
#pragma once

#include <cstdint>
#include <string>

#include "sotto/core/relation.hpp"
#include "sotto/core/release.hpp"
#include "sotto/core/rng.hpp"
#include "sotto/mechanisms/lattice_noise.hpp"
#include "sotto/models/linear/exact_rows.hpp"
#include "sotto/models/linear/linear_model.hpp"
#include "sotto/models/linear/record_sums.hpp"

namespace sotto {

struct FunctionalOptions {
  Loss loss = Loss::squared;
  std::size_t outputs = 1;          // 1: binary or regression; K: one per class
  std::size_t active = 0;           // coordinates of a row that can be other than 0; 0: all
  std::uint64_t contributions = 1;  // records that one unit of privacy may have
  double radius = 4;                // margins on which the logistic loss is approximated
  double regularisation = 0;  // λ of the mean loss plus (λ/2)‖θ‖²; 0: the noise's size
  unsigned threads = 0;
};

class FunctionalPlan {
 public:
  static constexpr std::size_t kMaximalDimension = 3000;

  // budget: a pure ε or a ρ. rows: the declared number of records; dimension: of a row, with the
  // intercept.
  FunctionalPlan(FunctionalOptions options, Relation relation, std::uint64_t rows,
                 std::size_t dimension, const Budget& budget);

  Event event() const { return compose({second_.event(), cross_.event()}); }
  Relation relation() const { return second_.relation(); }
  std::string describe() const;
  const LatticeNoise& second() const { return second_; }
  const LatticeNoise& cross() const { return cross_; }

  Release<LinearModel> run(const ExactRows& rows, Rng& rng) const {
    return release(rows, sums(rows, options_.threads), rng);
  }
  // The same in two steps, for records that are not kept: the sums of some of them, and the release
  // from the sums of all. encoding: any rows, or none, encoded like those summed.
  RecordSums sums(const ExactRows& part, unsigned threads) const;
  Release<LinearModel> release(const ExactRows& encoding, const RecordSums& sums, Rng& rng) const;

 private:
  FunctionalOptions options_;
  std::size_t dimension_;
  double ridge_;  // Λ
  LatticeNoise second_, cross_;
};

// The parabola's coefficient of z² for ln 2cosh(z/2) on [−radius, radius]; 1/8 in the limit of 0.
double logistic_parabola(double radius);

}  // namespace sotto
