// Synthetic tables: a generator of records that resemble the data in their low-order marginals.
//
// What       One kind, `synthesis`. Method `marginals`: noisy counts of every column, then of the
//            pairs of columns that depend on each other most, and the Markov model that fits them.
//            Method `histogram`: noisy counts of all combinations, for few columns.
// Guarantee  As the schema's relation and unit say; pure ε, (ε, δ) or ρ. Records that are drawn are
//            post-processing and cost nothing, however many.
// Method     docs/math/synthesis.md: select, measure, generate.
// Numerics   Counts and scores are whole numbers with exact noise.
// Reference  [MMS21] for measuring marginals chosen with a budget, [MSM19] for the estimate.
#pragma once

#include "sotto/learning/family.hpp"

namespace sotto {

Family synthesis_family();

}  // namespace sotto
