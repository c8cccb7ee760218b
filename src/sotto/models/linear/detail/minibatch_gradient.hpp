// Gradient perturbation by mini-batches: noisy stochastic gradient descent on Poisson samples.
//
// What       T steps θ ← Π(θ − η·(Σ_{i in sample} ∇ℓ_i + noise)/batch), released as the average of
//            the second half of the iterates or as the last one.
// Guarantee  T-fold composition of a discrete Gaussian on a Poisson sample (event()); every iterate
//            may be seen, the samples not.
// Method     Each step draws every record with probability q = batch/rows, independently of
//            everything; an empty sample is a step too. The sum of the sampled gradients moves by
//            at most the slope norm (1; √2 for several outputs) when a sampled record goes, twice
//            that when it is replaced. The divisor is the expected size q·rows, a public constant.
//            Projection Π to a ball, averaging and regularisation are post-processing.
//            Public rule: 20 passes; η as large as is stable for the loss's curvature, but such
//            that all noise together, as a random walk, carries θ a distance of about 10.
//            One record for a unit of privacy: several records of a user would be sampled
//            independently, which the event does not describe.
// Numerics   Sums are exact integers, noise is exact, coins compare 64-bit words with ⌊q·2^64⌋: the
//            true rate is at most q.
// Reference  [BST14], [ACGMMTZ16]; docs/math/linear-models.md, section "Mini-batches".
#pragma once

#include <cstdint>
#include <string>

#include "sotto/core/progress.hpp"
#include "sotto/core/relation.hpp"
#include "sotto/core/release.hpp"
#include "sotto/core/rng.hpp"
#include "sotto/mechanisms/lattice_noise.hpp"
#include "sotto/models/linear/exact_rows.hpp"
#include "sotto/models/linear/linear_model.hpp"

namespace sotto {

struct MinibatchOptions {
  Loss loss = Loss::logistic;
  std::size_t outputs = 1;       // 1: binary or regression; K: one per class
  double batch = 256;            // expected size
  std::uint64_t iterations = 0;  // 0: by the rule above
  double learning_rate = 0;      // 0: by the rule above
  double regularisation = 0;     // λ of (λ/2)‖θ‖²
  double radius = 0;             // of the ball θ is projected to; 0: none
  bool average = true;           // else the last iterate
  unsigned threads = 0;
};

class MinibatchGradientPlan {
 public:
  // noise_multiplier: standard deviation ÷ slope norm. rows: the declared number of records.
  MinibatchGradientPlan(MinibatchOptions options, Relation relation, std::uint64_t rows,
                        std::size_t dimension, double noise_multiplier);

  Event event() const;
  Relation relation() const { return noise_.relation(); }
  std::string describe() const;
  const MinibatchOptions& options() const { return options_; }  // with the rule's choices filled in
  double rate() const { return rate_; }                         // q

  Release<LinearModel> run(const ExactRows& rows, Rng& rng, Progress* progress = nullptr) const;

 private:
  MinibatchOptions options_;
  std::uint64_t rows_;
  std::size_t dimension_;
  double rate_;
  ExactRows::SlopeGrid grid_;
  LatticeNoise noise_;  // of one step
};

}  // namespace sotto
