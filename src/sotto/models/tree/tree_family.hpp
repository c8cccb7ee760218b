// Decision trees as a family: one tree whose questions are chosen in private, with noisy answers in
// the leaves.
//
// What       A tree of declared depth. At each level every node finds its question among all bins
//            of all columns; then the leaves release noisy counts of the classes (or count and
//            sum).
// Guarantee  A record is in one node of each level and in one leaf (tree_training.hpp).
// Method     By `method`: the exponential mechanism over scores of sensitivity one (the best of
//            them), noisy counts with Gini impurity or information gain, or random questions.
//            Deeper levels, whose nodes are smaller, get more of the budget.
// Numerics   Exact coins and noise.
// Reference  [MT07], [MS20]; docs/math/trees.md.
#pragma once

#include "sotto/learning/family.hpp"

namespace sotto {

Family tree_family();

}  // namespace sotto
