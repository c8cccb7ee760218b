// Additive models as a family: the sum of one function of each column, easy to read and to draw.
//
// What       A generalised linear model of the levels of each column: a step function of 16 parts
//            for a number, one figure for each value of a category.
// Guarantee  That of kernel_training.hpp with main effects alone.
// Method     Noisy descent on main effects; the part of a row that a column has is its own.
// Numerics   As there.
// Reference  docs/math/kernel.md.
#pragma once

#include "sotto/learning/family.hpp"

namespace sotto {

Family additive_family();

}  // namespace sotto
