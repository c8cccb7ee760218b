// The safe grid: real-valued queries and their noise live on the multiples of a power of two.
//
// What       granularity_for(scale) is the spacing g of the grid on which noise of that scale is
//            drawn: scale/g is in [2^39, 2^40). to_grid puts a double on the grid, from_grid takes
//            a grid point back.
// Guarantee  The set of possible outputs is the grid, whatever the input: the low bits of a noised
//            value tell nothing [Mir12]. g depends on the public scale only.
// Method     to_grid(x) = ⌊x/g + ½⌋, computed exactly. Rounding half up commutes with whole steps,
//            so two inputs at distance at most D·g land at most ⌈D⌉ steps apart: a query already on
//            the grid pays nothing for it.
//            Results beyond ±2^100 steps saturate: this, too, brings no two inputs further apart.
// Numerics   The noise has 40 bits of resolution; draws of up to 64σ or 2048 scales stay exact in a
//            double (< 2^53 steps). from_grid rounds once to the nearest double: post-processing of
//            a value that is already private.
// Reference  [Mir12]; docs/math/exact-noise.md.
#pragma once

#include <cstddef>

#include "sotto/core/norm.hpp"
#include "sotto/core/rng.hpp"

namespace sotto {

// 2^-900 ≤ scale ≤ 2^900, else InvalidArgument.
double granularity_for(double scale);

// granularity: a power of two. value: not NaN.
int128 to_grid(double value, double granularity);
double from_grid(int128 steps, double granularity);

// An upper bound, in steps, on how far two vectors of `dimension` coordinates at distance at most
// `sensitivity` (in `norm`) can be apart after to_grid. Each coordinate moves by at most one step
// more than before.
double grid_sensitivity(double sensitivity, double granularity, Norm norm, std::size_t dimension);

}  // namespace sotto
