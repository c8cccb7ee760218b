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

SOTTO_CLONES void add_gathered(const Gathered& from, std::int64_t first, std::int64_t last,
                               float* table) {
  gather_into(from, first, last, table);
}

SOTTO_CLONES void add_gathered(const Gathered& from, std::int64_t first, std::int64_t last,
                               double* table) {
  gather_into(from, first, last, table);
}

}  // namespace sotto::deep
