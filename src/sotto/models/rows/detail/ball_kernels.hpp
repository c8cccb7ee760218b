// Detail: the inner loops over points of a ball. Sums of whole steps are exact, so neither the
// order nor fused operations change a bit of them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sotto::detail {

// second[i·width + j] += Σ_r rows[r·width + i]·rows[r·width + j] for j ≥ i, in whole numbers of at
// most 2^53.
void add_products(const float* rows, std::size_t count, std::size_t width, double* second);

// nearest[r]: the centre c that minimises offset[c] − rows[r]·centre c, the first of equals.
// centres: width × padded, coordinate by coordinate; padded: a multiple of 8, offsets of the
// padding are infinite. A row's answer depends on this row alone.
void nearest_centres(const float* rows, std::size_t count, std::size_t width, const float* centres,
                     const float* offsets, std::size_t padded, std::uint32_t* nearest);

// sums[nearest[r]·width + j] += rows[r·width + j].
void add_to_nearest(const float* rows, std::size_t count, std::size_t width,
                    const std::uint32_t* nearest, double* sums);

}  // namespace sotto::detail
