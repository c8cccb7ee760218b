// Forests as a family: several trees whose answers are averaged.
//
// What       `exponential`, `histogram`: trees of records of their own, each with the whole budget.
//            `random`: trees with random questions, on all records or on records of their own.
// Guarantee  Records of its own: a record is in one tree, by a keyed hash of itself, so the trees
//            together cost what one costs. All records: a record is in one leaf of each of T trees,
//            ℓ1 T and ℓ2 √T (tree_training.hpp).
// Method     Trees as in the family `tree`.
// Numerics   Exact coins and noise.
// Reference  docs/math/trees.md.
#pragma once

#include "sotto/learning/family.hpp"

namespace sotto {

Family forest_family();

}  // namespace sotto
