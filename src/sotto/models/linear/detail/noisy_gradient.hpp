// Gradient perturbation: full-batch gradient descent with Gaussian noise on every gradient sum.
//
// What       A generalised linear model trained by T steps θ ← θ − η·v, v ← m·v + (Σ_i ∇ℓ_i +
//            noise)/n, released as the average of the second half of the iterates (or as the last
//            one).
// Guarantee  T-fold composition of a discrete Gaussian mechanism on a vector of ℓ2-sensitivity Δ: Δ
//            = slope norm for add_remove and zero_out, twice that for replace_one; composed with a
//            metric and the looks at gradients, where there are. The event says exactly that; every
//            iterate may be seen.
// Method     ‖∇ℓ_i‖ = ‖slopes of record i‖·‖x_i‖ ≤ slope norm, because rows lie in the unit ball
//            (gradient_rows.hpp). Slope norm: 1 for one output, √2 for softmax (‖p − e_y‖ ≤ √2) and
//            for one-vs-rest, whose slopes are clipped to it. The divisor n is the declared number
//            of rows, a public constant, whatever the true number is.
//            Step size and number of steps by a public rule: all noise together moves a prediction
//            ⟨θ, x⟩ by about (η·T/(1 − m))·(noise of one coordinate of the mean gradient at the
//            whole budget), whatever T and the dimension are; η·T is chosen so that this is
//            `noise_travel`, with η at most the largest stable step 2(1 + m)/curvature. Nothing is
//            read from the data. Coordinates of which less is expected, such as hat functions
//            beside the number they bend, may have a smaller pace: steps along them are shorter,
//            and so is what noise moves.
//            Where the rule would like more than 400 steps (many rows, a large budget), or more
//            than 200 over 2^16 declared rows or more, three tenths of the budget go to a metric
//            instead (noisy_metric.hpp), and 8 accelerated steps θ ← x − M⁻¹g(x), x being θ and a
//            growing part of its last move, are enough; 5 from 2^18 declared rows on. The last
//            third of them is averaged.
//            A regression (scale) learns the mean of the target and a clip C for the norms of its
//            gradients with a part of the budget (residual_scale.hpp), and its steps release
//            Σ_i clipped ∇ℓ_i/C, of sensitivity 1 for every C: noise in proportion to the gradients
//            there are. Bends, such as hat functions, are let in by how much farther descent has
//            moved them than noise alone would have; that is post-processing. Below 2^16 declared
//            rows it takes plain steps instead of a metric.
//            Individual accounting (typical_norm): each record has a budget for typical_norm²·T
//            steps of full norm, and a gradient that would pass it is shortened or left out. The
//            noise is that of so many steps, not of T: typical_norm times as much, for whatever the
//            records are. The event is that of the filter, a Gaussian of the whole budget.
// Numerics   Gradient sums are exact integers, noise is an exact integer sampler; the rest is
//            post-processing.
// Reference  [BST14], [ACGMMTZ16], [FZ21]; docs/math/linear-models.md, section "Noisy gradient
//            descent"; docs/math/individual-accounting.md.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sotto/core/progress.hpp"
#include "sotto/core/relation.hpp"
#include "sotto/core/release.hpp"
#include "sotto/core/rng.hpp"
#include "sotto/learning/individual_filter.hpp"
#include "sotto/mechanisms/lattice_noise.hpp"
#include "sotto/models/linear/detail/noisy_metric.hpp"
#include "sotto/models/linear/detail/residual_scale.hpp"
#include "sotto/models/linear/exact_rows.hpp"
#include "sotto/models/linear/linear_model.hpp"

namespace sotto {

// What a regression learns about itself on the way.
struct GradientScale {
  double farther = 1;  // than noise_travel at C = 1 would let plain steps go
  struct Run {
    std::size_t first = 0, count = 0;
  };
  // Coordinates that plain steps leave at 0 until noise does not explain them.
  std::vector<Run> bends = {};
};

struct NoisyGradientOptions {
  Loss loss = Loss::logistic;
  std::size_t outputs = 1;       // 1: binary or regression; K: one per class
  std::uint64_t iterations = 0;  // 0: by the rule above, 60 to 400
  double momentum = 0.9;         // of plain steps
  double noise_travel = 3;    // of predictions: of margins; targets of the squared loss are ≤ 1
  double learning_rate = 0;   // 0: by the rule above
  double regularisation = 0;  // λ of (λ/2)‖θ‖²
  // How far a step follows each coordinate of the gradient, above 0 and at most 1: public numbers,
  // one for each coordinate of a row. Empty: 1 for all.
  std::vector<double> paces = {};
  std::optional<bool> metric = {};  // precondition; default by the rule above
  bool varied = true;               // so many rows are possible that some stand for all
  bool average = true;              // else the last iterate
  // Squared loss: noise for gradients as they are, not as they might be (residual_scale.hpp).
  std::optional<GradientScale> scale = {};
  std::uint64_t contributions = 1;  // records that one unit of privacy may have
  // Individual accounting: the norm of a gradient for which the noise is meant, as a share of the
  // largest; above 0 and at most 1. None: every step is paid for at full norm.
  std::optional<double> typical_norm = {};
  OverBudget over_budget = OverBudget::shorten;
  unsigned threads = 0;
};

class NoisyGradientPlan {
 public:
  // rho: the zCDP budget of the whole run; rows: the declared number of records.
  NoisyGradientPlan(NoisyGradientOptions options, Relation relation, std::uint64_t rows,
                    std::size_t dimension, double rho);

  Event event() const;
  Relation relation() const { return relation_; }
  std::string describe() const;
  const NoisyGradientOptions& options() const {
    return options_;
  }  // with the rule's choices filled in

  Release<LinearModel> run(const GradientRows& rows, Rng& rng, Progress* progress = nullptr) const;

 private:
  Event filtered_event() const;

  NoisyGradientOptions options_;
  Relation relation_;
  std::uint64_t rows_;
  std::size_t dimension_;
  std::vector<double> paces_;  // of plain steps
  double ridge_;               // of the metric
  GradientRows::SlopeGrid grid_;
  std::optional<NoisyMetric> metric_;
  std::optional<ResidualScale> scale_;
  LatticeNoise noise_;  // of one step
  std::optional<IndividualBudget> individual_;
};

// The slopes of every loss for GradientRows::weighted_sum: one output (y = ±1 or in [−1, 1]) or
// several (y = class index).
GradientRows::Slopes slopes_of(Loss loss, std::size_t outputs, const GradientRows& rows);

}  // namespace sotto
