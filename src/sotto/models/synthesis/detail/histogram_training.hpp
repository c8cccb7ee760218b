// The generator of few columns: the perturbed histogram of all of them together.
//
// What       Noisy counts of every combination of categories and bins of numbers; records are drawn
//            from the cleaned counts.
// Guarantee  event(): that of the histogram (perturbed_histogram.hpp).
// Method     A Markov model with one term, all columns, whose potentials are the logarithms of the
//            cleaned counts; numbers are drawn uniformly from their bins.
// Numerics   Counts are whole numbers and the noise is exact.
// Reference  docs/math/synthesis.md.
#pragma once

#include <memory>

#include "sotto/learning/family.hpp"

namespace sotto {

std::unique_ptr<TrainingPlan> histogram_training(const Facts& facts,
                                                 const TrainingRequest& request);

}  // namespace sotto
