// Kernel models as a family: main effects, random waves and random trees, by noisy descent.
//
// What       A generalised linear model of random features of all columns together, of a class or a
//            number; the most accurate family for tables.
// Guarantee  That of kernel_training.hpp: Gaussian mechanisms, one event for each kind of release.
// Method     Features from noisy marginals, noisy full-batch descent on rows of norm one.
// Numerics   As there.
// Reference  docs/math/kernel.md.
#pragma once

#include "sotto/learning/family.hpp"

namespace sotto {

Family kernel_family();

}  // namespace sotto
