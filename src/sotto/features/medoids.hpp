// Medoids: a few public records that stand for all of them.
//
// What       The record nearest to each centre of a k-means clustering.
// Guarantee  None needed: public records. The same records give the same medoids.
// Method     k-means++ seeding with fixed, public randomness, Lloyd's steps, then the nearest
//            record that no other centre has taken.
// Numerics   Single precision.
// Reference  [AV07].
#pragma once

#include <vector>

#include "sotto/features/points.hpp"

namespace sotto::features {

// `count` different rows in increasing order; all rows where there are no more.
std::vector<std::size_t> medoids(const Points& points, std::size_t count, std::size_t steps = 15,
                                 unsigned threads = 0);

}  // namespace sotto::features
