// Clusters with privacy: the family `kmeans`.
//
// What       k centres such that encoded records are near to one of them.
// Guarantee  As the method's plan says (detail/kmeans_training.hpp), under every relation and unit.
//            Nobody learns whether a cluster is empty: counts are noised before they decide
//            anything.
// Method     coreset: noisy Lloyd rounds with three times as many centres as wanted, which are then
//            clustered without further cost, and rounds with the result. lloyd: rounds alone.
//            aggregate: clusters of many small parts of the data, averaged with noise.
// Numerics   Sums are exact integers, noise is exact; the rest is post-processing.
// Reference  [SCLBJ16], [NRS07]; docs/math/kmeans.md.
#pragma once

#include "sotto/learning/family.hpp"

namespace sotto {

Family kmeans_family();

}  // namespace sotto
