#include "sotto/deep/kernels.hpp"

#include <ATen/Parallel.h>
#include <dlfcn.h>

#include <cmath>

namespace sotto::deep {
namespace {

// LibTorch brings a BLAS into the process. Its sgemm is not part of LibTorch's interface, so look it up; without it, at::mm does.
using Sgemm = void (*)(const char*, const char*, const int*, const int*, const int*, const float*,
                       const float*, const int*, const float*, const int*, const float*, float*,
                       const int*);
Sgemm sgemm() {
  static const auto function = reinterpret_cast<Sgemm>(dlsym(RTLD_DEFAULT, "sgemm_"));
  return function;
}

torch::Tensor view_of(const Operand& x, std::int64_t rows, std::int64_t columns) {
  auto* data = const_cast<float*>(x.data);
  return x.transposed ? torch::from_blob(data, {rows, columns}, {1, x.stride})
                      : torch::from_blob(data, {rows, columns}, {x.stride, 1});
}

}  // namespace

// Sixteen lanes of double: wide enough to hide the latency of the additions.
__attribute__((target_clones("arch=haswell", "default"))) double squares_of(const float* x,
                                                                            std::int64_t n) {
  constexpr int kLanes = 16;
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

__attribute__((target_clones("arch=haswell", "default"))) double dot(const float* x, const float* y,
                                                                     std::int64_t n) {
  constexpr int kLanes = 16;
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

void for_records(std::int64_t records, const std::function<void(std::int64_t, std::int64_t)>& f) {
  at::parallel_for(0, records, 1, f);
}

std::vector<double> row_squares(const torch::Tensor& matrix) {
  const std::int64_t rows = matrix.size(0), n = rows > 0 ? matrix.numel() / rows : 0;
  std::vector<double> squares(static_cast<std::size_t>(rows));
  const float* x = matrix.data_ptr<float>();
  at::parallel_for(0, rows, std::max<std::int64_t>(1, 65536 / std::max<std::int64_t>(n, 1)),
                   [&](std::int64_t first, std::int64_t last) {
                     for (std::int64_t i = first; i < last; ++i)
                       squares[i] = squares_of(x + i * n, n);
                   });
  return squares;
}

void small_product(std::int64_t m, std::int64_t n, std::int64_t k, Operand a, Operand b, float* c,
                   float beta) {
  if (sgemm() == nullptr) {
    auto out = torch::from_blob(c, {m, n});
    at::addmm_out(out, out, view_of(a, m, k), view_of(b, k, n), beta, 1);
    return;
  }
  // Row major C = A·B is column major Cᵀ = Bᵀ·Aᵀ.
  const int rows = static_cast<int>(n), columns = static_cast<int>(m), depth = static_cast<int>(k);
  const int lda = static_cast<int>(a.stride), ldb = static_cast<int>(b.stride);
  const float one = 1;
  sgemm()(b.transposed ? "T" : "N", a.transposed ? "T" : "N", &rows, &columns, &depth, &one, b.data,
          &ldb, a.data, &lda, &beta, c, &rows);
}

torch::Tensor outer_products(const torch::Tensor& a, const torch::Tensor& b, bool keep,
                             std::vector<double>* squares) {
  const std::int64_t records = a.size(0), t = a.size(1), d = a.size(2), p = b.size(2);
  torch::Tensor out;
  if (keep) out = torch::empty({records, p * d}, a.options());
  if (squares != nullptr) squares->assign(static_cast<std::size_t>(records), 0);
  const float *pa = a.data_ptr<float>(), *pb = b.data_ptr<float>();
  const std::int64_t sa = a.stride(0), sb = b.stride(0), ta = std::max(a.stride(1), d),
                     tb = std::max(b.stride(1), p);
  float* kept = keep ? out.data_ptr<float>() : nullptr;
  for_records(records, [&](std::int64_t first, std::int64_t last) {
    std::vector<float> buffer(keep ? 0 : static_cast<std::size_t>(p * d));
    for (std::int64_t i = first; i < last; ++i) {
      float* g = keep ? kept + i * p * d : buffer.data();
      small_product(p, d, t, {pb + i * sb, tb, true}, {pa + i * sa, ta}, g);
      if (squares != nullptr) (*squares)[i] = squares_of(g, p * d);
    }
  });
  return out;
}

// Each entry of a Gram matrix of vectors of length n is off by at most n·u·‖x_t‖‖x_s‖, u = 2^-24, so the sum of products by at most
// (d + p + 2)·u·(Σ_t ‖a_t‖‖b_t‖)² to first order; 1.01 pays for the higher ones.
double gram_product(const float* a, const float* b, std::int64_t t, std::int64_t n) {
  double mass = 0;
  for (std::int64_t s = 0; s < t; ++s) {
    const double x = a[s * t + s], y = b[s * t + s];
    mass += std::sqrt(std::max(x, 0.0) * std::max(y, 0.0));
  }
  const double sum = dot(a, b, t * t);
  return (sum > 0 ? sum : sum * 0) + 1.01 * static_cast<double>(n + 2) * 0x1p-24 * mass * mass;
}

std::vector<double> ghost_squares(const torch::Tensor& a, const torch::Tensor& b) {
  const std::int64_t records = a.size(0), t = a.size(1), d = a.size(2), p = b.size(2);
  std::vector<double> squares(static_cast<std::size_t>(records));
  const float *pa = a.data_ptr<float>(), *pb = b.data_ptr<float>();
  const std::int64_t sa = a.stride(0), sb = b.stride(0), ta = std::max(a.stride(1), d),
                     tb = std::max(b.stride(1), p);
  for_records(records, [&](std::int64_t first, std::int64_t last) {
    std::vector<float> grams(static_cast<std::size_t>(2 * t * t));
    float *ga = grams.data(), *gb = ga + t * t;
    for (std::int64_t i = first; i < last; ++i) {
      const float *ai = pa + i * sa, *bi = pb + i * sb;
      small_product(t, t, d, {ai, ta}, {ai, ta, true}, ga);
      small_product(t, t, p, {bi, tb}, {bi, tb, true}, gb);
      squares[i] = gram_product(ga, gb, t, d + p);
    }
  });
  return squares;
}

}  // namespace sotto::deep
