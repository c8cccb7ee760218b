// Merging cells of outcomes so that each result has the likelihood ratio of a grid point exactly.
//
// What       Cells with a P-mass and a surplus (P-mass − e^{point}·Q-mass) around grid points
//            become masses on the points.
// Guarantee  The result is post-processing of the cells, except for losses that are rounded down:
//            it never dominates them.
// Method     A cell takes the fraction of its neighbours that balances it; docs/math/pld.md §4.
// Numerics   Every quotient is of numbers of one sign; a balanced cell errs by a few units in the
//            last place of its loss.
// Reference  docs/math/pld.md §4.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sotto {

// losses: of the points, increasing.
std::vector<double> merge_cells(std::span<const double> losses, std::vector<double> cells,
                                std::vector<double> surpluses);

}  // namespace sotto
