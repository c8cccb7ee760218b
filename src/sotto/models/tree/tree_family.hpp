// Decision trees as a family: questions chosen by the exponential mechanism, noisy answers in the leaves.
//
// What       A tree of declared depth. At each level every node chooses its question among all bins of
//            all columns; then the leaves release noisy counts of the classes (or count and sum).
// Guarantee  A record is in one node of each level and in one leaf. add_remove, zero_out: a level costs
//            what one node's choice costs, the leaves one vector of counts. replace_one moves a record
//            from one node to another, or changes one inside a node: two contributions, so the choices are
//            made with half the budget of the level and the level costs the whole. k records of a unit:
//            k contributions.
// Method     Pure ε: permute and flip, scores that all move the same way (node_statistics.hpp); ρ: the
//            exponential mechanism, whose loss has a bounded range, and Gaussian noise in the leaves. 10 %
//            of the budget is for the leaves; deeper levels, whose nodes are smaller, get more.
// Numerics   Exact coins and noise. An answer is drawn towards that of the whole tree by the weight of
//            one standard deviation of the noise.
// Reference  [MT07], [MS20]; docs/math/trees.md.
#pragma once

#include "sotto/learning/family.hpp"

namespace sotto {

Family tree_family();

}  // namespace sotto
