// Detail: many different two-valued losses ±ε (pure and (ε, δ) guarantees, binary response) as one
// law.
//
// What       merge_two_point() composes such runs, when there are many, on a grid of their own
//            (loss_grid.hpp) and puts the law of the total in their place.
// Guarantee  The upper law dominates the composition of the runs, the lower one is post-processing
//            of it.
// Method     A transform of its own for each of hundreds of laws with two atoms each is what this
//            saves.
// Numerics   Cut tails are charged; the relative error of the masses is the law's slack.
// Reference  [KOV17]; docs/math/composition.md §3, docs/math/pld.md §7.
#pragma once

#include <vector>

#include "sotto/accounting/pld/profile.hpp"

namespace sotto {

// delta: the δ that matters; tails far below it are charged. tolerance: wanted relative precision
// of ε.
std::vector<LawRun> merge_two_point(std::vector<LawRun> runs, double delta, double tolerance);

}  // namespace sotto
