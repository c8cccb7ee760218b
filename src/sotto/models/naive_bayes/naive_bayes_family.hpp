// Naive Bayes as a family: one noisy vector of sums per class, and a classifier made from it.
//
// What       Releases the sums of ClassStatistics once, with Laplace or Gaussian noise, and turns
//            them into a classifier by public rules.
// Guarantee  One mechanism with the sensitivity that ClassStatistics derives, under the relation of
//            the schema: pure ε by Laplace, zCDP by Gaussian noise. The event is that mechanism.
// Method     `auto` takes Laplace for a pure ε, else whichever of the two has the smaller standard
//            deviation. One noise for all sums: each is counted once, so no budget has to be split.
// Numerics   Integers and exact noise (lattice_noise.hpp).
// Reference  docs/math/naive-bayes.md.
#pragma once

#include "sotto/learning/family.hpp"

namespace sotto {

Family naive_bayes_family();

}  // namespace sotto
