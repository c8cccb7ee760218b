// Select, measure, generate: the plan of a private generator.
//
// What       Three releases: counts of the cells of every column; for each pair of columns a score,
//            how far its counts are from independence; counts of the chosen pairs, all at once.
//            Then the Markov model that fits them, by post-processing.
// Guarantee  event(): three discrete Gaussian mechanisms (three discrete Laplace ones of a pure ε),
//            whatever is chosen.
//            One record is in one cell of each of d columns: ℓ1 = d, ℓ2 = √d.
//            A score is Σ |M_ab − E_ab| with E released before: one record moves one M_ab by 1, so
//            one score by at most 1 and all of them by ℓ1 = pairs, ℓ2 = √pairs.
//            A chosen pair counts a record w_ab times: ℓ1 = Σ w_ab ≤ 1 (pure), ℓ2 = √Σ w_ab² ≤ 1.
//            replace_one is one record taken away and one put in: counts move by 2 in ℓ1 and by √2
//            times as much in ℓ2, a score by 2, hence all scores by twice as much in both. A unit
//            with k records moves everything k times as far. A null record counts nowhere.
// Method     Pairs are taken in the order of their scores, where the score exceeds what the noise
//            of their cells will add to it, and where the junction tree keeps within its cells;
//            those of the target first. w_ab ∝ cells^⅓ (cells^½ of a pure ε), twice as much with
//            the target.
// Numerics   E is rounded to steps of 2^−10 and w to steps of 2^−20, so that scores and counts are
//            whole numbers and the sensitivities exact.
// Reference  docs/math/synthesis.md.
#pragma once

#include <memory>

#include "sotto/learning/family.hpp"

namespace sotto {

std::unique_ptr<TrainingPlan> synthesis_training(const Facts& facts,
                                                 const TrainingRequest& request);

}  // namespace sotto
