// GradientCanaries: for audits of plans whose records act through clipped gradients.
//
// What       A plan that derives from it can train with canaries that have no cells: the gradient
//            of each is a direction of its own, as long as clipping allows. The result is a score
//            for each canary from all that was released on the way, high for "it was in".
// Guarantee  None: what is returned is as private as the records. Nothing else leaves.
// Method     Canaries are records to sampler, clipper and noise like all others. The direction is a
//            coordinate that nobody else uses, so the score, Σ_t ⟨noisy sum_t, direction⟩/σ_t, is
//            the best that one can do against a single step, and is disturbed by noise alone.
//            in[k] by a fair coin: under add_remove the canary is there or not; under zero_out a
//            null record has its place; under replace_one the canary with the opposite gradient.
// Numerics   Scores are in units of the noise of one step.
// Reference  [SNJ23], [NHS+23]; docs/math/audit.md.
#pragma once

#include <vector>

#include "sotto/core/rng.hpp"
#include "sotto/learning/source.hpp"

namespace sotto {

class GradientCanaries {
 public:
  virtual ~GradientCanaries() = default;
  // Throws Unsupported where the plan takes no gradients.
  virtual std::vector<double> scores_of_canaries(const std::vector<bool>& in, Source& source,
                                                 Rng& rng) = 0;
};

}  // namespace sotto
