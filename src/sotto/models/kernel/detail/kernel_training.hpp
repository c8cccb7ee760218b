// Noisy full-batch descent on feature rows: what the families `kernel` and `additive` share.
//
// What       Releases noisy marginals, from which the features follow; the means of waves and the
//            shares of leaves, on which they are centred; then R noisy gradient sums of a
//            generalised linear model on the rows. With enough records in three stages, each going
//            on from the margins of the one before, of a number after a few steps along one slope
//            for each column: main effects alone; after a look at all pairs
//            of columns (pair_scan.hpp) a trial of all features; the rest with features drawn anew
//            (column_uses.hpp), or on main effects alone where the trial did not lower the loss. A
//            trial that did not is dropped. What the last iterates say adds up to the model.
// Guarantee  Composition of discrete Gaussian mechanisms: marginals (noisy_marginals.hpp); wave
//            sums, of ℓ2 norm ≤ √pairs a record; leaf counts, one in each of T
//            trees, ℓ2 ≤ √T; for a number, five sums of squared residuals in [0, 1]; R gradient
//            sums, ℓ2 ≤ 1 (kernel_rows.hpp); with three stages sums of residuals in the cells of P
//            pairs, ℓ2 ≤ √P, and the sum of what each record's loss fell by, at most 1 up or down;
//            for a number, in the end, two sums of products in [−1, 1], ℓ2 ≤ √2.
//            replace_one: twice as far (√2 for counts, 1 for squared residuals). The event lists
//            them; every iterate may be seen. A third stage on main effects alone releases fewer
//            coordinates with the same noise: less than what the event says.
// Method     Residuals are divided by a public clip c and clipped to norm 1. With rows of norm one,
//            R steps of total time τ = η·R add prediction noise of about c·τ/(n·μ), μ = √(2ρ) of
//            the descent, whatever R and the number of features are. So τ = κ·n·μ, and R is chosen
//            for stability alone. c of a number: 1.2 noisy root mean square residuals, released
//            again as the residuals shrink. n is the declared number of rows. Predictions of a
//            number are shrunk to their mean, or to what slopes say, where they are mostly noise.
// Numerics   All sums are exact integers, noise is exact; the rest is post-processing.
// Reference  [RR07], [BST14]; docs/math/kernel.md.
#pragma once

#include <cstdint>
#include <memory>

#include "sotto/learning/family.hpp"
#include "sotto/models/kernel/detail/feature_map.hpp"

namespace sotto {

struct KernelOptions {
  // Left open: by a public rule.
  std::optional<std::uint64_t> fourier = {}, trees = {}, iterations = {};
  bool main_only = false;   // an additive model
  std::uint64_t pairs = 0;  // of columns, in an additive model
};

// Throws InvalidArgument, Unsupported or DataError.
std::unique_ptr<TrainingPlan> kernel_training(const Facts& facts, const TrainingRequest& request,
                                              const KernelOptions& options);

}  // namespace sotto
