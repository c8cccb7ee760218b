#include "sotto/models/linear/detail/exact_kernels.hpp"

#include <bit>
#include <vector>

#include "sotto/core/vector_clones.hpp"

namespace sotto::detail {
namespace {
constexpr std::size_t kLanes = 8;
constexpr std::size_t kTogether = 4;  // rows whose products are added in one go
}  // namespace

SOTTO_CLONES double square_of(const float* features, std::size_t width) {
  const std::size_t even = width / kLanes * kLanes;
  double lanes[kLanes] = {}, sum = 0;
  for (std::size_t j = 0; j < even; j += kLanes) {
    for (std::size_t l = 0; l < kLanes; ++l) {
      const auto v = static_cast<double>(features[j + l]);
      lanes[l] += v * v;
    }
  }
  for (std::size_t j = even; j < width; ++j) {
    const auto v = static_cast<double>(features[j]);
    sum += v * v;
  }
  for (std::size_t l = 0; l < kLanes; ++l) sum += lanes[l];
  return sum;
}

SOTTO_CLONES double to_grid(const float* features, std::size_t width, double factor,
                            float* __restrict row) {
  const std::size_t even = width / kLanes * kLanes;
  double lanes[kLanes] = {}, sum = 0;
  for (std::size_t j = 0; j < even; j += kLanes) {
    for (std::size_t l = 0; l < kLanes; ++l) {
      const auto v = static_cast<double>(
          static_cast<std::int32_t>(static_cast<double>(features[j + l]) * factor));
      row[j + l] = static_cast<float>(v * 0x1p-16);
      lanes[l] += v * v;
    }
  }
  for (std::size_t j = even; j < width; ++j) {
    const auto v =
        static_cast<double>(static_cast<std::int32_t>(static_cast<double>(features[j]) * factor));
    row[j] = static_cast<float>(v * 0x1p-16);
    sum += v * v;
  }
  for (std::size_t l = 0; l < kLanes; ++l) sum += lanes[l];
  return sum;
}

SOTTO_CLONES std::uint64_t hash_of(const float* row, std::size_t width) {
  const std::size_t even = width / kLanes * kLanes;
  std::uint64_t lanes[kLanes] = {}, hash = 0;
  std::uint32_t key[kLanes] = {0x9e3779b1, 0x85ebca77, 0xc2b2ae3d, 0x27d4eb2f,
                               0x165667b1, 0xd3a2646d, 0xfd7046c5, 0xb55a4f09};
  for (std::size_t j = 0; j < even; j += kLanes) {
    for (std::size_t l = 0; l < kLanes; ++l) {
      lanes[l] += std::uint64_t{std::bit_cast<std::uint32_t>(row[j + l])} * key[l];
      key[l] = key[l] * 0xac564b05 + 0x3c6ef35f;  // another multiplier for the next eight
    }
  }
  for (std::size_t j = even; j < width; ++j)
    hash = (hash ^ std::bit_cast<std::uint32_t>(row[j])) * 0xff51afd7ed558ccd;
  for (std::size_t l = 0; l < kLanes; ++l) {
    hash = (hash ^ lanes[l]) * 0xff51afd7ed558ccd;
    hash ^= hash >> 32;
  }
  return hash;
}

SOTTO_CLONES void row_products(const float* rows, std::size_t count, std::size_t width,
                               const double* theta, double* margins) {
  const std::size_t even = width / kLanes * kLanes;
  for (std::size_t i = 0; i < count; ++i) {
    const float* row = rows + i * width;
    double lanes[kLanes] = {};
    for (std::size_t j = 0; j < even; j += kLanes) {
      for (std::size_t l = 0; l < kLanes; ++l)
        lanes[l] += static_cast<double>(row[j + l]) * theta[j + l];
    }
    double sum = 0;
    for (std::size_t j = even; j < width; ++j) sum += static_cast<double>(row[j]) * theta[j];
    for (std::size_t l = 0; l < kLanes; ++l) sum += lanes[l];
    margins[i] = sum;
  }
}

SOTTO_CLONES void add_weighted_rows(const float* rows, std::size_t count, std::size_t width,
                                    const double* slopes, double* __restrict sums) {
  std::size_t i = 0;
  for (; i + kTogether <= count; i += kTogether) {
    const float *a = rows + i * width, *b = a + width, *c = b + width, *d = c + width;
    const double s = slopes[i], t = slopes[i + 1], u = slopes[i + 2], v = slopes[i + 3];
    for (std::size_t j = 0; j < width; ++j) {
      sums[j] += (s * static_cast<double>(a[j]) + t * static_cast<double>(b[j])) +
                 (u * static_cast<double>(c[j]) + v * static_cast<double>(d[j]));
    }
  }
  for (; i < count; ++i) {
    const float* row = rows + i * width;
    const double s = slopes[i];
    for (std::size_t j = 0; j < width; ++j) sums[j] += s * static_cast<double>(row[j]);
  }
}

SOTTO_CLONES void add_outer_products(const float* rows, std::size_t count, std::size_t width,
                                     double* __restrict second) {
  std::vector<double> wide(kTogether * width);
  for (std::size_t first = 0; first < count; first += kTogether) {
    const std::size_t together = count - first < kTogether ? count - first : kTogether;
    for (std::size_t k = 0; k < kTogether * width; ++k)
      wide[k] = k < together * width ? static_cast<double>(rows[first * width + k]) : 0.0;
    const double *a = wide.data(), *b = a + width, *c = b + width, *d = c + width;
    for (std::size_t i = 0; i < width; ++i) {
      const double s = a[i], t = b[i], u = c[i], v = d[i];
      double* out = second + i * width;
      if (s == 0 && t == 0 && u == 0 && v == 0) continue;  // categories: most coordinates are 0
      for (std::size_t j = i; j < width; ++j)
        out[j] += (s * a[j] + t * b[j]) + (u * c[j] + v * d[j]);
    }
  }
}

}  // namespace sotto::detail
