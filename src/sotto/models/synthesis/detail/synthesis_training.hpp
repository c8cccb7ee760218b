// Select, measure, generate: the plan of a private generator.
//
// What       Releases, one after the other: counts of the cells of every column; which pairs of
//            columns are looked at, where not all are; for each of these a score, how far its
//            counts are from independence; a few triples of two columns and the target, and how
//            much they hold that pairs do not; counts of the pairs and triples that are worth it
//            and, once more, of all columns, all at once. Then the Markov model that fits them, by
//            post-processing.
// Guarantee  event(): the mechanisms of synthesis_design.hpp, whatever is chosen; their
//            sensitivities are derived there. A null record counts nowhere.
// Method     What is counted last, and how often a record counts there, follows from what was
//            released before (measurement_plan.hpp): parts of the budget that add up to at most 1,
//            weights that are their roots (the parts themselves of a pure ε).
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
