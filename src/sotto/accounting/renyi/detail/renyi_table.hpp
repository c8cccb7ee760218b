// Detail: a Rényi bound that is costly to evaluate, remembered at some orders and bounded between
// them.
//
// What       tabulated(r) is a bound that asks r at orders of a geometric sequence in α − 1 only,
//            each at most once.
// Guarantee  An upper bound wherever r is one: ln A(α) = (α − 1)D_α is convex in α for every pair
//            of neighbours, so the chord between two upper bounds lies above it.
// Numerics   Steps of 1 % of α − 1: for a curve ρα the chord is at most 2.5e-5 of it too high.
// Reference  docs/math/renyi.md §7.
#pragma once

#include "sotto/accounting/renyi/renyi_conversion.hpp"

namespace sotto {

RenyiBound tabulated(RenyiBound divergence);

}  // namespace sotto
