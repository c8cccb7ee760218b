// The inner loops of ExactRows: products of rows of floats in double precision, for the widest
// vectors the processor has.
//
// What       A record onto the grid; row times vector, weighted sum of rows, sum of outer products;
//            a hash of a row.
// Guarantee  None of their own: every sum they form for ExactRows is exact, so neither the order of
//            summation nor the width of the vectors changes a bit.
// Method     Plain loops over several rows or lanes at a time, compiled once for 256-bit vectors
//            and once for any processor.
// Numerics   Exact under the conditions of exact_rows.hpp; for other inputs, double precision.
// Reference  docs/math/linear-models.md, section "Exact sums".
#pragma once

#include <cstddef>
#include <cstdint>

namespace sotto::detail {

// Σ_j features[j]². Products of floats are exact in double precision; the order of the additions is
// fixed by the width.
double square_of(const float* features, std::size_t width);
// row[j] = trunc(features[j]·factor)/2^16; returns Σ_j (row[j]·2^16)², exact. |features[j]·factor|
// must be below 2^31.
double to_grid(const float* features, std::size_t width, double factor, float* row);
// Well mixed bits of a row, a function of its bytes alone.
std::uint64_t hash_of(const float* row, std::size_t width);
// margins[i] = Σ_j rows[i·width + j]·theta[j] for i < count.
void row_products(const float* rows, std::size_t count, std::size_t width, const double* theta,
                  double* margins);
// sums[j] += Σ_i slopes[i]·rows[i·width + j].
void add_weighted_rows(const float* rows, std::size_t count, std::size_t width,
                       const double* slopes, double* sums);
// second[i·width + j] += Σ_r rows[r·width + i]·rows[r·width + j] for j ≥ i.
void add_outer_products(const float* rows, std::size_t count, std::size_t width, double* second);

}  // namespace sotto::detail
