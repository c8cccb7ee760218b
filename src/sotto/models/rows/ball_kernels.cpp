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

// Four doubles are the most that stay in a register where there are none of 512 bits.
constexpr std::size_t kFour = 4, kAtOnce = 16;
using Four = double __attribute__((vector_size(kFour * sizeof(double))));
using FourFloats = float __attribute__((vector_size(kFour * sizeof(float))));
using FourSteps = std::int32_t __attribute__((vector_size(kFour * sizeof(float))));

// row[0..4) − centre[0..4).
__attribute__((always_inline)) inline void subtract(Four& left, const float* row,
                                                    const double* centre) {
  FourFloats some;
  std::memcpy(&some, row, sizeof some);
  std::memcpy(&left, centre, sizeof left);
  left = __builtin_convertvector(some, Four) - left;
}

// Four steps; adds their squares.
__attribute__((always_inline)) inline void truncate(const float* row, const double* centre,
                                                    double factor, float* steps, Four& squares) {
  Four e;
  subtract(e, row, centre);
  const FourSteps whole = __builtin_convertvector(e * factor, FourSteps);
  const FourFloats kept = __builtin_convertvector(whole, FourFloats);
  std::memcpy(steps, &kept, sizeof kept);
  e = __builtin_convertvector(whole, Four);
  squares += e * e;
}

// Sixteen partial sums as eight.
__attribute__((always_inline)) inline void fold(const Four* sums, double* lanes) {
  const Four low = sums[0] + sums[2], high = sums[1] + sums[3];
  std::memcpy(lanes, &low, sizeof low);
  std::memcpy(lanes + kFour, &high, sizeof high);
}

__attribute__((always_inline)) inline double total(const double* lanes) {
  double sum = 0;
  for (std::size_t l = 0; l < kLanes; ++l) sum += lanes[l];
  return sum;
}

}  // namespace

SOTTO_CLONES double squared_distance(const float* row, const double* centre, std::size_t width) {
  Four sums[kFour] = {};
  std::size_t j = 0;
  for (; j + kAtOnce <= width; j += kAtOnce) {
#pragma GCC unroll 4
    for (std::size_t k = 0; k < kFour; ++k) {
      Four e;
      subtract(e, row + j + k * kFour, centre + j + k * kFour);
      sums[k] += e * e;
    }
  }
  double lanes[kLanes];
  fold(sums, lanes);
  for (; j < width; ++j) {
    const double rest = static_cast<double>(row[j]) - centre[j];
    lanes[j % kLanes] += rest * rest;
  }
  return total(lanes);
}

SOTTO_CLONES double truncated_steps(const float* row, const double* centre, std::size_t width,
                                    double factor, float* steps) {
  Four sums[kFour] = {};
  std::size_t j = 0;
  for (; j + kAtOnce <= width; j += kAtOnce) {
#pragma GCC unroll 4
    for (std::size_t k = 0; k < kFour; ++k)
      truncate(row + j + k * kFour, centre + j + k * kFour, factor, steps + j + k * kFour, sums[k]);
  }
  double lanes[kLanes];
  fold(sums, lanes);
  for (; j < width; ++j) {
    const auto v = static_cast<double>(
        static_cast<std::int32_t>((static_cast<double>(row[j]) - centre[j]) * factor));
    steps[j] = static_cast<float>(v);
    lanes[j % kLanes] += v * v;
  }
  return total(lanes);
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
