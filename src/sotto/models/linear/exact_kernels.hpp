// The inner loops of ExactRows: products of rows of floats in double precision, for the widest vectors the processor has.
//
// Every sum they form is exact (exact_rows.hpp), so neither the order of summation nor the width of the vectors changes any bit.
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
