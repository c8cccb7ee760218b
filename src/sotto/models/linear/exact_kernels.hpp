// The inner loops of ExactRows: products of rows of floats in double precision, for the widest vectors the processor has.
//
// What       Row times vector, weighted sum of rows, sum of outer products.
// Guarantee  None of their own: every sum they form for ExactRows is exact, so neither the order of summation nor the width of the vectors changes a bit.
// Method     Plain loops over several rows or lanes at a time, compiled once for 256-bit vectors and once for any processor.
// Numerics   Exact under the conditions of exact_rows.hpp; for other inputs, double precision.
// Reference  docs/math/linear-models.md, section "Exact sums".
#pragma once

#include <cstddef>

namespace sotto::detail {

// margins[i] = Σ_j rows[i·width + j]·theta[j] for i < count.
void row_products(const float* rows, std::size_t count, std::size_t width, const double* theta,
                  double* margins);
// sums[j] += Σ_i slopes[i]·rows[i·width + j].
void add_weighted_rows(const float* rows, std::size_t count, std::size_t width,
                       const double* slopes, double* sums);
// second[i·width + j] += Σ_r rows[r·width + i]·rows[r·width + j] for j ≥ i.
void add_outer_products(const float* rows, std::size_t count, std::size_t width, double* second);

}  // namespace sotto::detail
