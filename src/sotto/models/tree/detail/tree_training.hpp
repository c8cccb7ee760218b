// Detail: how trees are grown, for the families `tree` and `forest`.
//
// What       Trees of declared depth: questions of all nodes level by level, then noisy answers of
//            the leaves.
// Guarantee  exponential, histogram, sulq: a record takes part in one tree, and is in one node of
//            each level and in one leaf. add_remove, zero_out: a level costs what one node costs,
//            the leaves one vector of counts. replace_one moves a record from one node to another,
//            perhaps of another tree, or changes one inside a node: two contributions. k records of
//            a unit: k contributions (2k when replaced). random: questions cost nothing; a record
//            is in one leaf of each of its trees.
// Method     exponential: permute and flip (pure ε) or the exponential mechanism (ρ) over scores
//            that all move the same way (node_statistics.hpp). histogram, sulq: noisy counts of
//            every level of every column, from which the best question follows (noisy_gains.hpp); a
//            record adds 1 (or 1 and y) in each of d columns: ℓ1 d, ℓ2 √d
//            (2d, √2d). Candidates of a node are the questions that the way to it leaves open
//            (open_questions.hpp), which is known from what was released before.
// Numerics   Exact coins and noise. An answer is drawn towards that of the whole tree by the weight
//            of one standard deviation of the noise.
// Reference  docs/math/trees.md.
#pragma once

#include <memory>

#include "sotto/learning/family.hpp"

namespace sotto {

enum class TreeMethod { exponential, histogram, sulq, random };

struct TreeOptions {
  TreeMethod method = TreeMethod::exponential;
  std::size_t depth = 4, trees = 1;
  bool disjoint = true;  // a record is in one tree; else in all, for random questions only
};

// Throws InvalidArgument, Unsupported or DataError.
std::unique_ptr<TrainingPlan> tree_training(const Facts& facts, const TrainingRequest& request,
                                            const TreeOptions& options);

}  // namespace sotto
