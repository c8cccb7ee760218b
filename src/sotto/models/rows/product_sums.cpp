#include "sotto/models/rows/detail/product_sums.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "sotto/core/vector_clones.hpp"

namespace sotto::detail {
namespace {

constexpr std::size_t kTile = 8;     // columns of a strip
constexpr std::size_t kDepth = 256;  // rows packed at once: two strips stay in the first cache
// A cache line more than a strip has, so that the strips of a row do not meet in the cache.
constexpr std::size_t kStrip = (kDepth + 1) * kTile;
constexpr std::size_t kGroup = 16;  // strips that stay in the second cache
constexpr std::size_t kAlignment = 64;

constexpr std::size_t kLanes = 4;
using Lanes = double __attribute__((vector_size(kLanes * sizeof(double))));

__attribute__((always_inline)) inline void add_to(double* to, const Lanes& more) {
  Lanes sum;
  std::memcpy(&sum, to, sizeof sum);
  sum += more;
  std::memcpy(to, &sum, sizeof sum);
}

// out[a][b] += Σ_r left[r][a]·right[r][b], four by eight at a time.
SOTTO_CLONES void multiply_strips(const double* left, const double* right, std::size_t depth,
                                  double* out, std::size_t stride) {
  for (std::size_t half = 0; half < kTile; half += kLanes) {
    Lanes low[kLanes] = {}, high[kLanes] = {};
    for (std::size_t r = 0; r < depth; ++r) {
      Lanes first, second;
      std::memcpy(&first, right + r * kTile, sizeof first);
      std::memcpy(&second, right + r * kTile + kLanes, sizeof second);
      const double* l = left + r * kTile + half;
#pragma GCC unroll 4
      for (std::size_t a = 0; a < kLanes; ++a) {
        low[a] += l[a] * first;
        high[a] += l[a] * second;
      }
    }
#pragma GCC unroll 4
    for (std::size_t a = 0; a < kLanes; ++a) {
      add_to(out + (half + a) * stride, low[a]);
      add_to(out + (half + a) * stride + kLanes, high[a]);
    }
  }
}

// Eight columns of a row at a time into their strips.
SOTTO_CLONES void pack(const float* row, std::size_t width, double* __restrict to) {
  std::size_t j = 0;
  for (; j + kTile <= width; j += kTile, to += kStrip)
    for (std::size_t k = 0; k < kTile; ++k) to[k] = static_cast<double>(row[j + k]);
  for (std::size_t k = 0; j + k < width; ++k) to[k] = static_cast<double>(row[j + k]);
}

}  // namespace

ProductSums::Doubles ProductSums::zeros(std::size_t count) {
  const std::size_t bytes = (count * sizeof(double) + kAlignment - 1) / kAlignment * kAlignment;
  Doubles result(static_cast<double*>(std::aligned_alloc(kAlignment, bytes)));
  if (!result) throw std::bad_alloc();
  std::memset(result.get(), 0, bytes);
  return result;
}

ProductSums::ProductSums(std::size_t width)
    : width_(width),
      stride_((width + kTile - 1) / kTile * kTile),
      packed_(zeros(stride_ / kTile * kStrip)),
      sums_(zeros(stride_ * stride_)) {}

void ProductSums::add(const float* row) {
  pack(row, width_, packed_.get() + waiting_ * kTile);
  if (++waiting_ == kDepth) flush();
}

void ProductSums::flush() {
  const std::size_t strips = stride_ / kTile;
  for (std::size_t group = 0; group < strips; group += kGroup) {
    for (std::size_t t = group; t < strips; ++t) {
      const std::size_t end = std::min(t + 1, group + kGroup);
      for (std::size_t s = group; s < end; ++s)
        multiply_strips(packed_.get() + s * kStrip, packed_.get() + t * kStrip, waiting_,
                        sums_.get() + s * kTile * stride_ + t * kTile, stride_);
    }
  }
  waiting_ = 0;
}

}  // namespace sotto::detail
