// The convex objectives behind output and objective perturbation: value, gradient with a bound on
// its rounding error, Hessian.
//
// What       J(θ) = Σ_i ℓ(θ; x_i, y_i) + (Λ/2)‖θ‖² + ⟨b, θ⟩ over the rows of an ExactRows. θ has
//            one block of dimension() per output.
//            One output: the loss of the margin. K > 1 outputs: softmax for the logistic loss,
//            one-vs-rest for the others.
// Guarantee  J is Λ-strongly convex. With rows in the unit ball, one record's gradient has norm ≤
//            slope_norm() and its Hessian has trace ≤ curvature_trace(). gradient_error bounds
//            ‖computed − true gradient‖ for the data as stored.
// Method     The sum, not the mean, is minimised: no divisor, hence nothing depends on the true
//            number of records but the sum itself.
//            A record whose target is not one its loss knows (±1, a class index, a number)
//            contributes nothing.
//            Blocks of kBlock rows are cast to double and multiplied; partial sums are kept for a
//            number of chunks that depends on public facts and the number of rows only, so results
//            do not depend on the number of threads.
// Numerics   Rounding errors by the standard model |fl(x∘y) − x∘y| ≤ u|x∘y|, any order of
//            summation; every count is rounded up and doubled.
// Reference  [CMS11] for the constants; docs/math/objective-perturbation.md, "The minimiser".
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "sotto/models/linear/exact_rows.hpp"
#include "sotto/models/linear/loss.hpp"

namespace sotto {

// Constants of one record, rows in the unit ball. Squared loss has no slope norm: 0.
double slope_norm(Loss loss, std::size_t outputs);  // 1; √2 for softmax; √K for one-vs-rest
double curvature_trace(Loss loss,
                       std::size_t outputs);  // c; 1 − 1/K for softmax; K·c for one-vs-rest

// A problem's size, from which bounds follow that hold for all data of that size.
struct ProblemSize {
  Loss loss = Loss::logistic;
  std::size_t outputs = 1, dimension = 1;
  double rows = 0, ridge = 1, linear_norm = 0;

  // ‖θ‖ wherever J(θ) ≤ J(0): at the minimiser and at every point of a descent from 0.
  double largest_theta() const;
  // ‖computed − true gradient‖ where ‖θ‖ ≤ theta_norm.
  double gradient_error(double theta_norm) const;
};

class ConvexProblem {
 public:
  // linear: b, empty for none. ridge: Λ > 0. most_rows: of more rows only the first so many count.
  ConvexProblem(const ExactRows& rows, Loss loss, std::size_t outputs, double ridge,
                std::span<const double> linear = {}, unsigned threads = 0,
                std::size_t most_rows = std::numeric_limits<std::size_t>::max());

  std::size_t size() const { return outputs_ * rows_->dimension(); }
  double ridge() const { return ridge_; }
  // Λ·w_j for the j-th coordinate of every output, w_j > 0: then J is Λ·min(w)-strongly convex.
  // Only for fits without a guarantee: bounds that follow from Λ alone do not hold.
  void weigh_ridge(std::vector<double> weights);
  // M with ‖∇J(a) − ∇J(b)‖ ≤ M‖a − b‖.
  double smoothness() const;
  ConvexProblem with_ridge(double ridge) const;

  struct Point {
    std::vector<double> theta, gradient;
    double value = 0,
           value_error =
               0;  // the error of the value is an estimate, used to steer the line search only
    double gradient_error = 0;

    double gradient_norm() const;   // as computed
    double gradient_bound() const;  // of the true gradient
  };
  Point evaluate(std::vector<double> theta) const;

  std::vector<double> hessian(std::span<const double> theta) const;  // size() × size(), symmetric
  // H(θ)·v without forming H.
  std::vector<double> hessian_times(std::span<const double> theta, std::span<const double> v) const;

 private:
  template <class Partial, class F>
  std::vector<Partial> over_chunks(std::size_t bytes, F&& f) const;

  const ExactRows* rows_;
  std::size_t count_;  // of the rows that count
  Loss loss_;
  std::size_t outputs_;
  double ridge_;
  std::vector<double> linear_, weights_;  // weights_: of the ridge; empty: all 1
  unsigned threads_;
};

}  // namespace sotto
