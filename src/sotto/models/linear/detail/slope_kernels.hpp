// The slopes of many records at once: the inner loops between margins and weighted sums.
//
// What       Slopes of the logistic loss of one output; clipping and truncation of one slope per
//            record.
// Guarantee  The slope of a record is a function of its own margin and target, to the last bit,
//            wherever it stands among the others: neighbouring data sets share the slopes of all
//            records they share.
// Method     Plain loops over elements, without fused operations (which a compiler might use for
//            some elements and not for others): every element goes through the same IEEE
//            operations, in a vector or alone.
// Numerics   Slopes have an absolute error below 2^−50 and are truncated to a grid afterwards
//            (exact_rows.hpp).
// Reference  docs/math/linear-models.md, section "Exact sums".
#pragma once

#include <cstddef>

namespace sotto::detail {

// slopes[i] = −y/(1 + exp(t)) with t = y·margins[i], y = targets[i] ∈ {−1, 0, 1}. Margins must be
// finite.
void logistic_slopes(const double* margins, const float* targets, std::size_t count,
                     double* slopes);
// Clips each slope to [−norm, norm] and truncates it to whole units of 2^−bits; one that is not
// finite becomes 0.
void bound_slopes(double* slopes, std::size_t count, double norm, int bits);

}  // namespace sotto::detail
