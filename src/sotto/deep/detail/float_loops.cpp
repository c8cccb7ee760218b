#include "sotto/deep/detail/float_loops.hpp"

#include "sotto/core/vector_clones.hpp"

namespace sotto::deep {
namespace {

constexpr int kLanes = 16;  // of double: wide enough to hide the latency of the additions

// Inlined into its callers, which have clones for vector units.
template <class Real>
[[gnu::always_inline]] inline void gather_into(const Gathered& from, std::int64_t first,
                                               std::int64_t last, Real* table) {
  const std::int64_t width = last - first;
  for (std::int64_t i = 0; i < from.records; ++i) {
    const Real c = from.factor[i];
    if (c == 0) continue;
    for (std::int64_t s = i * from.t; s < (i + 1) * from.t; ++s) {
      if (from.index[s] == from.padding) continue;
      const float* __restrict row = from.rows + s * from.n + first;
      Real* __restrict to = table + from.index[s] * from.n + first;
      for (std::int64_t k = 0; k < width; ++k) to[k] += c * static_cast<Real>(row[k]);
    }
  }
}

}  // namespace

SOTTO_CLONES double squares_of(const float* x, std::int64_t n) {
  double lane[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int k = 0; k < kLanes; ++k) {
      const double v = x[i + k];
      lane[k] += v * v;
    }
  }
  double sum = 0;
  for (; i < n; ++i) sum += static_cast<double>(x[i]) * x[i];
  for (const double v : lane) sum += v;
  return sum;
}

SOTTO_CLONES double dot(const float* x, const float* y, std::int64_t n) {
  double lane[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int k = 0; k < kLanes; ++k)
      lane[k] += static_cast<double>(x[i + k]) * static_cast<double>(y[i + k]);
  double sum = 0;
  for (; i < n; ++i) sum += static_cast<double>(x[i]) * y[i];
  for (const double v : lane) sum += v;
  return sum;
}

namespace {

using Four = float __attribute__((vector_size(16), aligned(4), may_alias));

}  // namespace

void transpose(const float* from, std::int64_t stride, std::int64_t rows, std::int64_t columns,
               float* to) {
  const auto one_by_one = [&](std::int64_t r, std::int64_t c) {
    to[c * rows + r] = from[r * stride + c];
  };
  const std::int64_t whole_rows = rows / 4 * 4, whole_columns = columns / 4 * 4;
  constexpr std::int64_t kLine = 16;  // floats that come from memory together
  for (std::int64_t r = 0; r < whole_rows; r += 4) {
    const float* const x = from + r * stride;
    for (std::int64_t c = 0; c < whole_columns; c += 4) {
      if (c % kLine == 0)  // what will be asked for next
        for (int k = 0; k < 4; ++k) __builtin_prefetch(x + k * stride + c + columns);
      const Four a0 = *reinterpret_cast<const Four*>(x + c),
                 a1 = *reinterpret_cast<const Four*>(x + stride + c),
                 a2 = *reinterpret_cast<const Four*>(x + 2 * stride + c),
                 a3 = *reinterpret_cast<const Four*>(x + 3 * stride + c);
      const Four b0 = __builtin_shufflevector(a0, a1, 0, 4, 1, 5),
                 b1 = __builtin_shufflevector(a0, a1, 2, 6, 3, 7),
                 b2 = __builtin_shufflevector(a2, a3, 0, 4, 1, 5),
                 b3 = __builtin_shufflevector(a2, a3, 2, 6, 3, 7);
      float* const y = to + c * rows + r;
      *reinterpret_cast<Four*>(y) = __builtin_shufflevector(b0, b2, 0, 1, 4, 5);
      *reinterpret_cast<Four*>(y + rows) = __builtin_shufflevector(b0, b2, 2, 3, 6, 7);
      *reinterpret_cast<Four*>(y + 2 * rows) = __builtin_shufflevector(b1, b3, 0, 1, 4, 5);
      *reinterpret_cast<Four*>(y + 3 * rows) = __builtin_shufflevector(b1, b3, 2, 3, 6, 7);
    }
    for (std::int64_t c = whole_columns; c < columns; ++c)
      for (std::int64_t k = r; k < r + 4; ++k) one_by_one(k, c);
  }
  for (std::int64_t r = whole_rows; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) one_by_one(r, c);
}

SOTTO_CLONES void add_floats(double* __restrict to, const float* __restrict from, std::int64_t n) {
  for (std::int64_t k = 0; k < n; ++k) to[k] += from[k];
}

SOTTO_CLONES void add_scaled(double* __restrict to, const float* __restrict from, float factor,
                             std::int64_t n) {
  const double c = factor;
  for (std::int64_t k = 0; k < n; ++k) to[k] += c * static_cast<double>(from[k]);
}

SOTTO_CLONES void descend(float* __restrict x, const float* __restrict gradient,
                          const float* __restrict noise, float rate, std::int64_t n) {
  for (std::int64_t k = 0; k < n; ++k) x[k] -= rate * (gradient[k] + noise[k]);
}

SOTTO_CLONES void descend(float* __restrict x, float* __restrict v,
                          const float* __restrict gradient, const float* __restrict noise,
                          float scale, float momentum, float rate, std::int64_t n) {
  for (std::int64_t k = 0; k < n; ++k) {
    v[k] = momentum * v[k] + scale * (gradient[k] + noise[k]);
    x[k] -= rate * v[k];
  }
}

SOTTO_CLONES void descend(float* __restrict x, const float* __restrict gradient, float rate,
                          std::int64_t n) {
  for (std::int64_t k = 0; k < n; ++k) x[k] -= rate * gradient[k];
}

SOTTO_CLONES void descend(float* __restrict x, float* __restrict v,
                          const float* __restrict gradient, float scale, float momentum, float rate,
                          std::int64_t n) {
  for (std::int64_t k = 0; k < n; ++k) {
    v[k] = momentum * v[k] + scale * gradient[k];
    x[k] -= rate * v[k];
  }
}

SOTTO_CLONES void add_gathered(const Gathered& from, std::int64_t first, std::int64_t last,
                               float* table) {
  gather_into(from, first, last, table);
}

SOTTO_CLONES void add_gathered(const Gathered& from, std::int64_t first, std::int64_t last,
                               double* table) {
  gather_into(from, first, last, table);
}

}  // namespace sotto::deep
