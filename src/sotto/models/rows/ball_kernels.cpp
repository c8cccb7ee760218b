#include "sotto/models/rows/detail/ball_kernels.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "sotto/core/vector_clones.hpp"

namespace sotto::detail {
namespace {

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

using Wide = double __attribute__((vector_size(kLanes * sizeof(double))));

// row[j..j + 8) − centre[j..j + 8).
__attribute__((always_inline)) inline void subtract(Wide& left, const float* row,
                                                    const double* centre) {
  Lanes some;
  load(some, row);
  std::memcpy(&left, centre, sizeof left);
  left = __builtin_convertvector(some, Wide) - left;
}

// Eight steps; adds their squares.
__attribute__((always_inline)) inline void truncate(const float* row, const double* centre,
                                                    double factor, float* steps, Wide& squares) {
  Wide e;
  subtract(e, row, centre);
  const Places whole = __builtin_convertvector(e * factor, Places);
  const Lanes kept = __builtin_convertvector(whole, Lanes);
  std::memcpy(steps, &kept, sizeof kept);
  e = __builtin_convertvector(whole, Wide);
  squares += e * e;
}

__attribute__((always_inline)) inline double total(const Wide& lanes) {
  double sum = 0;
  for (std::size_t l = 0; l < kLanes; ++l) sum += lanes[l];
  return sum;
}

}  // namespace

SOTTO_CLONES double squared_distance(const float* row, const double* centre, std::size_t width) {
  Wide even{}, odd{}, e;
  std::size_t j = 0;
  for (; j + 2 * kLanes <= width; j += 2 * kLanes) {
    subtract(e, row + j, centre + j);
    even += e * e;
    subtract(e, row + j + kLanes, centre + j + kLanes);
    odd += e * e;
  }
  for (; j < width; ++j) {
    const double rest = static_cast<double>(row[j]) - centre[j];
    even[j % kLanes] += rest * rest;
  }
  return total(even + odd);
}

SOTTO_CLONES double truncated_steps(const float* row, const double* centre, std::size_t width,
                                    double factor, float* steps) {
  Wide even{}, odd{};
  std::size_t j = 0;
  for (; j + 2 * kLanes <= width; j += 2 * kLanes) {
    truncate(row + j, centre + j, factor, steps + j, even);
    truncate(row + j + kLanes, centre + j + kLanes, factor, steps + j + kLanes, odd);
  }
  for (; j < width; ++j) {
    const auto v = static_cast<double>(
        static_cast<std::int32_t>((static_cast<double>(row[j]) - centre[j]) * factor));
    steps[j] = static_cast<float>(v);
    even[j % kLanes] += v * v;
  }
  return total(even + odd);
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
