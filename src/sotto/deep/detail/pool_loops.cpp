#include "sotto/deep/detail/pool_loops.hpp"

#include <algorithm>

#include "sotto/core/vector_clones.hpp"

namespace sotto::deep {
namespace {

// Inlined into its callers, which have clones for vector units. kStep: 0 for any.
template <int kStep>
[[gnu::always_inline]] inline void take_larger(const float* __restrict from, std::int64_t step,
                                               std::int32_t offset, std::int64_t n,
                                               float* __restrict largest,
                                               std::int32_t* __restrict where) {
  for (std::int64_t k = 0; k < n; ++k) {
    const float x = from[k * (kStep == 0 ? step : kStep)], m = largest[k];
    const bool take = (x > m) | (x != x);
    largest[k] = take ? x : m;
    where[k] = take ? offset : where[k];
  }
}

// n windows, the first at `from`.
template <int kStep>
[[gnu::always_inline]] inline void look_through(const PoolShape& s, const float* from,
                                                std::int64_t n, float* largest,
                                                std::int32_t* where) {
  for (std::int64_t k = 0; k < n; ++k) {
    largest[k] = from[k * (kStep == 0 ? s.across : kStep)];
    where[k] = 0;
  }
  for (std::int64_t r = 0; r < s.kernel_height; ++r)
    for (std::int64_t c = r == 0 ? 1 : 0; c < s.kernel_width; ++c) {
      const std::int64_t offset = r * s.width + c;
      take_larger<kStep>(from + offset, s.across, static_cast<std::int32_t>(offset), n, largest,
                         where);
    }
}

}  // namespace

SOTTO_CLONES void largest_of_windows(const PoolShape& s, const float* plane, PoolScratch& scratch,
                                     float* out, std::int32_t* where) {
  const std::int64_t high = s.out_height(), wide = s.out_width();
  if (s.down == 1 && s.across == 1) {  // the plane as one row; what straddles its rows is left out
    float* const largest = scratch.largest.data();
    std::int32_t* const from = scratch.where.data();
    look_through<1>(s, plane, s.places(), largest, from);
    for (std::int64_t y = 0; y < high; ++y) {
      std::copy_n(largest + y * s.width, wide, out + y * wide);
      std::copy_n(from + y * s.width, wide, where + y * wide);
    }
    return;
  }
  for (std::int64_t y = 0; y < high; ++y) {
    const float* const row = plane + y * s.down * s.width;
    if (s.across == 2)
      look_through<2>(s, row, wide, out + y * wide, where + y * wide);
    else
      look_through<0>(s, row, wide, out + y * wide, where + y * wide);
  }
}

void spread_to_windows(const PoolShape& s, const float* gradient, const std::int32_t* where,
                       float* plane) {
  std::fill_n(plane, s.height * s.width, 0.0f);
  for (std::int64_t y = 0; y < s.out_height(); ++y) {
    float* const row = plane + y * s.down * s.width;
    for (std::int64_t x = 0; x < s.out_width(); ++x) row[x * s.across + *where++] += *gradient++;
  }
}

}  // namespace sotto::deep
