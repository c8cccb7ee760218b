#include "sotto/models/rows/detail/ball_kernels.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "sotto/core/vector_clones.hpp"

namespace sotto::detail {
namespace {

constexpr std::size_t kTile = 8;     // columns of a strip of the packed rows
constexpr std::size_t kDepth = 256;  // rows packed at once: two strips stay in the first cache
constexpr std::size_t kLanes = 8, kTogether = 4;

// out[a][b] = Σ_r left[r][a]·right[r][b] over strips of kTile columns.
SOTTO_CLONES void multiply_strips(const double* left, const double* right, std::size_t depth,
                                  double* __restrict out) {
  double sums[kTile / 2][kTile];
  for (std::size_t half = 0; half < kTile; half += kTile / 2) {
    for (std::size_t a = 0; a < kTile / 2; ++a)
      for (std::size_t b = 0; b < kTile; ++b) sums[a][b] = 0;
    for (std::size_t r = 0; r < depth; ++r) {
      const double* l = left + r * kTile + half;
      const double* s = right + r * kTile;
#pragma GCC unroll 4
      for (std::size_t a = 0; a < kTile / 2; ++a)
#pragma GCC unroll 8
        for (std::size_t b = 0; b < kTile; ++b) sums[a][b] += l[a] * s[b];
    }
    for (std::size_t a = 0; a < kTile / 2; ++a)
      for (std::size_t b = 0; b < kTile; ++b) out[(half + a) * kTile + b] = sums[a][b];
  }
}

}  // namespace

void add_products(const float* rows, std::size_t count, std::size_t width, double* second) {
  const std::size_t strips = (width + kTile - 1) / kTile;
  std::vector<double> packed(strips * kDepth * kTile), tile(kTile * kTile);
  for (std::size_t first = 0; first < count; first += kDepth) {
    const std::size_t depth = std::min(kDepth, count - first);
    for (std::size_t r = 0; r < depth; ++r) {
      const float* row = rows + (first + r) * width;
      for (std::size_t j = 0; j < width; ++j)
        packed[(j / kTile * kDepth + r) * kTile + j % kTile] = static_cast<double>(row[j]);
    }
    for (std::size_t s = 0; s < strips; ++s) {
      for (std::size_t t = s; t < strips; ++t) {
        multiply_strips(packed.data() + s * kDepth * kTile, packed.data() + t * kDepth * kTile,
                        depth, tile.data());
        const std::size_t last_a = std::min(kTile, width - s * kTile),
                          last_b = std::min(kTile, width - t * kTile);
        for (std::size_t a = 0; a < last_a; ++a)
          for (std::size_t b = 0; b < last_b; ++b)
            second[(s * kTile + a) * width + t * kTile + b] += tile[a * kTile + b];
      }
    }
  }
}

// Several rows side by side hide the latency of each; what a row goes through is the same alone.
SOTTO_CLONES void nearest_centres(const float* rows, std::size_t count, std::size_t width,
                                  const float* centres, const float* offsets, std::size_t padded,
                                  std::uint32_t* nearest) {
  for (std::size_t r = 0; r < count; r += kTogether) {
    const float* row[kTogether];
    for (std::size_t t = 0; t < kTogether; ++t) row[t] = rows + std::min(r + t, count - 1) * width;
    float best[kTogether];
    std::uint32_t at[kTogether] = {};
    for (float& b : best) b = std::numeric_limits<float>::infinity();
    for (std::size_t from = 0; from < padded; from += kLanes) {
      float lanes[kTogether][kLanes];
      for (std::size_t t = 0; t < kTogether; ++t)
        for (std::size_t l = 0; l < kLanes; ++l) lanes[t][l] = offsets[from + l];
      for (std::size_t j = 0; j < width; ++j) {
        const float* centre = centres + j * padded + from;
#pragma GCC unroll 4
        for (std::size_t t = 0; t < kTogether; ++t) {
          const float x = row[t][j];
#pragma GCC unroll 8
          for (std::size_t l = 0; l < kLanes; ++l) lanes[t][l] -= x * centre[l];
        }
      }
      for (std::size_t t = 0; t < kTogether; ++t) {
        for (std::size_t l = 0; l < kLanes; ++l) {
          if (lanes[t][l] < best[t]) {
            best[t] = lanes[t][l];
            at[t] = static_cast<std::uint32_t>(from + l);
          }
        }
      }
    }
    for (std::size_t t = 0; t < kTogether && r + t < count; ++t) nearest[r + t] = at[t];
  }
}

SOTTO_CLONES void add_to_nearest(const float* rows, std::size_t count, std::size_t width,
                                 const std::uint32_t* nearest, double* __restrict sums) {
  for (std::size_t r = 0; r < count; ++r) {
    const float* row = rows + r * width;
    double* to = sums + nearest[r] * width;
    for (std::size_t j = 0; j < width; ++j) to[j] += static_cast<double>(row[j]);
  }
}

}  // namespace sotto::detail
