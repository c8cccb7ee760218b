// Steps before a model, with privacy: the family `preprocess`, kinds bounds, scale and bins.
//
// What       bounds: numbers within narrower bounds than were declared. scale: numbers less their
//            mean, in standard deviations. bins: numbers as one of B bins with about as many
//            records each. Other columns pass.
// Guarantee  As detail/preprocess_training.hpp says, under every relation and unit.
// Method     All figures are post-processing of one noisy vector over all numeric columns.
// Numerics   Sums and counts are exact integers, noise is exact.
// Reference  docs/math/preprocessing.md.
#pragma once

#include "sotto/learning/family.hpp"

namespace sotto {

Family preprocess_family();

}  // namespace sotto
