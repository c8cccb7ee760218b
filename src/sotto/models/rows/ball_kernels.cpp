#include "sotto/models/rows/detail/ball_kernels.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "sotto/core/vector_clones.hpp"

namespace sotto::detail {
namespace {

constexpr std::size_t kTile = 8;     // columns of a strip of the packed rows
constexpr std::size_t kDepth = 256;  // rows packed at once: two strips stay in the first cache
constexpr std::size_t kLanes = 8, kTogether = 8;

// Eight numbers in a register, or in two where there are no wider ones.
using Lanes = float __attribute__((vector_size(kLanes * sizeof(float))));
using Places = std::int32_t __attribute__((vector_size(kLanes * sizeof(float))));

__attribute__((always_inline)) inline void load(Lanes& lanes, const float* from) {
  std::memcpy(&lanes, from, sizeof lanes);
}

// Each lane keeps the lesser of itself and of the one that Order names, the first of equals.
template <int... Order>
__attribute__((always_inline)) inline void keep_lesser(Lanes& best, Places& at) {
  const Lanes other = __builtin_shufflevector(best, best, Order...);
  const Places there = __builtin_shufflevector(at, at, Order...);
  const Places take = (other < best) | ((other == best) & (there < at));
  best = take ? other : best;
  at = take ? there : at;
}
__attribute__((always_inline)) inline std::uint32_t first_of_least(Lanes& best, Places& at) {
  keep_lesser<4, 5, 6, 7, 0, 1, 2, 3>(best, at);
  keep_lesser<2, 3, 0, 1, 6, 7, 4, 5>(best, at);
  keep_lesser<1, 0, 3, 2, 5, 4, 7, 6>(best, at);
  return static_cast<std::uint32_t>(at[0]);
}

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

// Scores of kTogether rows at once against kLanes centres: the sums stay in registers, and
// several rows hide the latency of each. Lane by lane the best so far and where it was.
SOTTO_CLONES void nearest_centres(const float* rows, std::size_t count, std::size_t width,
                                  const float* centres, const float* offsets, std::size_t padded,
                                  std::uint32_t* nearest) {
  for (std::size_t r = 0; r < count; r += kTogether) {
    const float* row[kTogether];
    for (std::size_t t = 0; t < kTogether; ++t) row[t] = rows + std::min(r + t, count - 1) * width;
    Lanes best[kTogether];
    Places at[kTogether];
    for (std::size_t t = 0; t < kTogether; ++t) {
      best[t] = Lanes{} + std::numeric_limits<float>::infinity();
      at[t] = Places{};
    }
    for (std::size_t from = 0; from < padded; from += kLanes) {
      Lanes sum[kTogether], centre;
      load(centre, offsets + from);
#pragma GCC unroll 8
      for (std::size_t t = 0; t < kTogether; ++t) sum[t] = centre;
      for (std::size_t j = 0; j < width; ++j) {
        load(centre, centres + j * padded + from);
#pragma GCC unroll 8
        for (std::size_t t = 0; t < kTogether; ++t) sum[t] -= row[t][j] * centre;
      }
      const Places here = Places{0, 1, 2, 3, 4, 5, 6, 7} + static_cast<std::int32_t>(from);
#pragma GCC unroll 8
      for (std::size_t t = 0; t < kTogether; ++t) {
        const Places less = sum[t] < best[t];
        best[t] = less ? sum[t] : best[t];
        at[t] = less ? here : at[t];
      }
    }
    for (std::size_t t = 0; t < kTogether && r + t < count; ++t)
      nearest[r + t] = first_of_least(best[t], at[t]);
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
