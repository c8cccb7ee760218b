// Detail: the inner loops over points of a ball. Sums of whole steps are exact, so neither the
// order nor fused operations change a bit of them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sotto::detail {

// ‖row − centre‖². Sixteen partial sums in a fixed order: the same on every processor.
double squared_distance(const float* row, const double* centre, std::size_t width);

// steps = (row − centre)·factor, truncated towards 0; returns Σ steps², exact. Needs
// |row − centre|·factor < 2^31.
double truncated_steps(const float* row, const double* centre, std::size_t width, double factor,
                       float* steps);

// nearest[r]: the centre c that minimises offset[c] − rows[r]·centre c, the first of equals.
// centres: width × padded, coordinate by coordinate; padded: a multiple of 8, offsets of the
// padding are infinite. A row's answer depends on this row alone.
void nearest_centres(const float* rows, std::size_t count, std::size_t width, const float* centres,
                     const float* offsets, std::size_t padded, std::uint32_t* nearest);

// sums[nearest[r]·width + j] += rows[r·width + j].
void add_to_nearest(const float* rows, std::size_t count, std::size_t width,
                    const std::uint32_t* nearest, double* sums);

}  // namespace sotto::detail
