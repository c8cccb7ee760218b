#include "sotto/models/kernel/detail/wave_kernels.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/core/vector_clones.hpp"

namespace sotto::wave_kernels {
namespace {
constexpr std::size_t kLanes = 8;
constexpr std::size_t kTogether = 4;  // rows whose products are added in 32 bits
constexpr float kDrawnIn = 32768.0f * (1 - 0x1p-12f);
}  // namespace

SOTTO_CLONES void waves(const float* directions, const float* places, std::size_t columns,
                        std::size_t pairs, float* __restrict turns, std::int16_t* __restrict out) {
  for (std::size_t k = 0; k < pairs; ++k) turns[k] = 0;
  for (std::size_t j = 0; j < columns; ++j) {
    const float x = 2 * places[j] - 1;
    const float* of_column = directions + j * pairs;
    for (std::size_t k = 0; k < pairs; ++k) turns[k] += of_column[k] * x;
  }
  float* __restrict sines = turns + pairs;
  // In two loops: the compiler would not vectorise one that also packs what it has found.
  for (std::size_t k = 0; k < pairs; ++k) {
    // Half the angle, in [−π/2, π/2].
    const float h = 3.14159265f * (turns[k] - std::floor(turns[k] + 0.5f)), q = h * h;
    const float s =
        h *
        (1 + q * (-1.0f / 6 +
                  q * (1.0f / 120 + q * (-1.0f / 5040 +
                                         q * (1.0f / 362880 + q * (-1.0f / 39916800 +
                                                                   q * (1.0f / 6227020800.0f)))))));
    const float c =
        1 + q * (-1.0f / 2 +
                 q * (1.0f / 24 +
                      q * (-1.0f / 720 +
                           q * (1.0f / 40320 + q * (-1.0f / 3628800 + q * (1.0f / 479001600))))));
    turns[k] = (1 - 2 * s * s) * kDrawnIn;
    sines[k] = 2 * s * c * kDrawnIn;
  }
  for (std::size_t k = 0; k < pairs; ++k) {
    out[2 * k] = static_cast<std::int16_t>(static_cast<std::int32_t>(turns[k]));
    out[2 * k + 1] = static_cast<std::int16_t>(static_cast<std::int32_t>(sines[k]));
  }
}

SOTTO_CLONES void centre(std::int16_t* __restrict row, const float* means, std::size_t width,
                         double reach, double least, float* __restrict room) {
  const std::size_t even = width / kLanes * kLanes;
  double lanes[kLanes] = {}, square = 0;
  for (std::size_t j = 0; j < width; ++j)
    room[j] = static_cast<float>(row[j]) * 0x1p-15f - means[j];
  for (std::size_t j = 0; j < even; j += kLanes)
    for (std::size_t l = 0; l < kLanes; ++l)
      lanes[l] += static_cast<double>(room[j + l]) * static_cast<double>(room[j + l]);
  for (std::size_t j = even; j < width; ++j)
    square += static_cast<double>(room[j]) * static_cast<double>(room[j]);
  for (std::size_t l = 0; l < kLanes; ++l) square += lanes[l];
  // Covers the rounding of the sum, below 2^−35 of it, and of each product, 2^−24.
  const float scale = square > 0x1p-40
                          ? static_cast<float>(reach * kRowSteps /
                                               std::max(least, std::sqrt(square)) * (1 - 0x1p-20))
                          : 0.0f;
  for (std::size_t j = 0; j < width; ++j)
    row[j] = static_cast<std::int16_t>(static_cast<std::int32_t>(room[j] * scale));
}

SOTTO_CLONES void products(const std::int16_t* rows, std::size_t count, std::size_t width,
                           const std::int16_t* theta, std::int32_t* products) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::int16_t* row = rows + i * width;
    std::int32_t sum = 0;
    for (std::size_t j = 0; j < width; ++j) sum += row[j] * theta[j];
    products[i] = sum;
  }
}

SOTTO_CLONES void add_weighted(const std::int16_t* rows, std::size_t count, std::size_t width,
                               const std::int16_t* slopes, std::int64_t* __restrict sums) {
  std::size_t i = 0;
  for (; i + kTogether <= count; i += kTogether) {
    const std::int16_t *a = rows + i * width, *b = a + width, *c = b + width, *d = c + width;
    const std::int32_t s = slopes[i], t = slopes[i + 1], u = slopes[i + 2], v = slopes[i + 3];
    for (std::size_t j = 0; j < width; ++j) {
      const std::int32_t four = s * a[j] + t * b[j] + u * c[j] + v * d[j];
      sums[j] += four;
    }
  }
  for (; i < count; ++i) {
    const std::int16_t* row = rows + i * width;
    const std::int32_t s = slopes[i];
    for (std::size_t j = 0; j < width; ++j) sums[j] += s * row[j];
  }
}

}  // namespace sotto::wave_kernels
