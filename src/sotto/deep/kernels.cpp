#include "sotto/deep/detail/kernels.hpp"

#include <ATen/Parallel.h>
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "sotto/deep/detail/patch_loops.hpp"

namespace sotto::deep {
namespace {

// LibTorch brings a BLAS into the process. Its sgemm is not part of LibTorch's interface, so look
// it up; without it, at::mm does.
using Sgemm = void (*)(const char*, const char*, const int*, const int*, const int*, const float*,
                       const float*, const int*, const float*, const int*, const float*, float*,
                       const int*);
Sgemm sgemm() {
  static const auto function = reinterpret_cast<Sgemm>(dlsym(RTLD_DEFAULT, "sgemm_"));
  return function;
}

// Blocks that these kernels take at their best.
constexpr std::int64_t kBlockHigh = 16, kBlockWide = 64, kBlockDeep = 512;

bool worth_blocks(std::int64_t m, std::int64_t n, std::int64_t k) {
  constexpr std::int64_t kLeast = 64, kMost = 2048;
  return reads_small_matrices() && m >= kBlockHigh && n >= kLeast && n <= kMost && k >= kLeast &&
         k <= kMost;
}

// C (m × n) = A·B + start, start being a row or null. A thread has some columns of some rows. A
// rest of rows would go through another kernel, with other roundings: it is computed with rows
// before it that its thread has too.
void product_in_blocks(std::int64_t m, std::int64_t n, std::int64_t k, Operand a, Operand b,
                       const float* start, float* c) {
  constexpr std::int64_t kRows = 8 * kBlockHigh;
  const std::int64_t across = (n + kBlockWide - 1) / kBlockWide,
                     down = std::max<std::int64_t>(1, m / kRows);
  const auto at = [](const Operand& x, std::int64_t row, std::int64_t column) {
    const auto offset = x.transposed ? column * x.stride + row : row * x.stride + column;
    return Operand{x.data + offset, x.stride, x.transposed};
  };
  const std::int64_t grain = std::max<std::int64_t>(1, (1 << 20) / (kRows * kBlockWide * k));
  at::parallel_for(0, across * down, grain, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t part = from; part < to; ++part) {
      const std::int64_t column = part / down * kBlockWide, top = part % down * kRows,
                         bottom = part % down + 1 == down ? m : top + kRows,
                         wide = std::min(kBlockWide, n - column);
      for (std::int64_t r = top; r < bottom; r += kBlockHigh) {
        const std::int64_t row = std::min(r, bottom - kBlockHigh);
        float* const out = c + row * n + column;
        if (start != nullptr)
          for (std::int64_t i = 0; i < kBlockHigh; ++i)
            std::copy_n(start + column, wide, out + i * n);
        for (std::int64_t depth = 0; depth < k; depth += kBlockDeep)
          small_product(kBlockHigh, wide, std::min(kBlockDeep, k - depth), at(a, row, depth),
                        at(b, depth, column), out, depth == 0 && start == nullptr ? 0 : 1, n);
      }
    }
  });
}

// A matrix of floats by rows.
bool lies_by_rows(const torch::Tensor& x) {
  return x.scalar_type() == torch::kFloat && x.is_contiguous() && x.dim() >= 2;
}

torch::Tensor view_of(const Operand& x, std::int64_t rows, std::int64_t columns) {
  auto* data = const_cast<float*>(x.data);
  return x.transposed ? torch::from_blob(data, {rows, columns}, {1, x.stride})
                      : torch::from_blob(data, {rows, columns}, {x.stride, 1});
}

}  // namespace

// OpenBLAS has kernels that read small matrices as they lie, on processors with 512-bit vectors;
// elsewhere a small product is packed like a large one, which costs more than it brings.
bool reads_small_matrices() {
  static const bool does = [] {
    const auto name =
        reinterpret_cast<const char* (*)()>(dlsym(RTLD_DEFAULT, "openblas_get_corename"));
    if (sgemm() == nullptr || name == nullptr) return false;
    const std::string_view core = name();
    return core == "SkylakeX" || core == "Cooperlake" || core == "SapphireRapids";
  }();
  return does;
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

void add_product(Columns x, Columns y, std::int64_t m, std::int64_t n, std::int64_t k, float* c,
                 std::int64_t stride, float beta) {
  if (sgemm() == nullptr) {
    auto out = torch::from_blob(c, {m, n}, {stride, 1});
    const auto product =
        at::mm(view_of({x.data, x.stride, true}, m, k), view_of({y.data, y.stride}, k, n));
    if (beta == 0)
      out.copy_(product);
    else
      out.mul_(beta).add_(product);
    return;
  }
  const int rows = static_cast<int>(n), columns = static_cast<int>(m), depth = static_cast<int>(k);
  const int ldx = static_cast<int>(x.stride), ldy = static_cast<int>(y.stride),
            ldc = static_cast<int>(stride);
  const float one = 1;
  sgemm()("N", "T", &rows, &columns, &depth, &one, y.data, &ldy, x.data, &ldx, &beta, c, &ldc);
}

void small_product(std::int64_t m, std::int64_t n, std::int64_t k, Operand a, Operand b, float* c,
                   float beta, std::int64_t c_stride) {
  if (c_stride == 0) c_stride = n;
  if (sgemm() == nullptr) {
    auto out = torch::from_blob(c, {m, n}, {c_stride, 1});
    at::addmm_out(out, out, view_of(a, m, k), view_of(b, k, n), beta, 1);
    return;
  }
  // Row major C = A·B is column major Cᵀ = Bᵀ·Aᵀ.
  const int rows = static_cast<int>(n), columns = static_cast<int>(m), depth = static_cast<int>(k);
  const int lda = static_cast<int>(a.stride), ldb = static_cast<int>(b.stride),
            ldc = static_cast<int>(c_stride);
  const float one = 1;
  sgemm()(b.transposed ? "T" : "N", a.transposed ? "T" : "N", &rows, &columns, &depth, &one, b.data,
          &ldb, a.data, &lda, &beta, c, &ldc);
}

torch::Tensor linear_product(const torch::Tensor& x, const torch::Tensor& weight,
                             const torch::Tensor& bias) {
  const std::int64_t d = weight.size(1), p = weight.size(0),
                     rows = x.numel() / std::max<std::int64_t>(d, 1);
  const bool whole = lies_by_rows(x) && lies_by_rows(weight);
  if (!whole || x.size(-1) != d || !worth_blocks(rows, p, d)) return torch::linear(x, weight, bias);
  auto shape = x.sizes().vec();
  shape.back() = p;
  auto y = torch::empty(shape, x.options());
  const auto start = bias.defined() ? bias.detach().contiguous() : torch::Tensor();
  product_in_blocks(rows, p, d, {x.data_ptr<float>(), d}, {weight.data_ptr<float>(), d, true},
                    start.defined() ? start.data_ptr<float>() : nullptr, y.data_ptr<float>());
  return y;
}

torch::Tensor product_with_weight(const torch::Tensor& g, const torch::Tensor& weight) {
  const std::int64_t d = weight.size(1), p = weight.size(0),
                     rows = g.numel() / std::max<std::int64_t>(p, 1);
  const bool whole = lies_by_rows(g) && lies_by_rows(weight);
  if (!whole || !worth_blocks(rows, d, p)) return torch::matmul(g, weight);
  auto shape = g.sizes().vec();
  shape.back() = d;
  auto result = torch::empty(shape, g.options());
  product_in_blocks(rows, d, p, {g.data_ptr<float>(), p}, {weight.data_ptr<float>(), d}, nullptr,
                    result.data_ptr<float>());
  return result;
}

torch::Tensor linear_with_squares(const torch::Tensor& x, const torch::Tensor& weight,
                                  const torch::Tensor& bias, std::vector<double>& squares) {
  constexpr std::int64_t kRows = 64;
  const std::int64_t records = x.size(0), d = x.size(1), p = weight.size(0);
  auto y = torch::zeros({records, p}, x.options());
  if (bias.defined()) y.copy_(bias.detach().expand({records, p}));
  squares.resize(static_cast<std::size_t>(records));
  const float *px = x.data_ptr<float>(), *w = weight.data_ptr<float>();
  float* out = y.data_ptr<float>();
  // The same cuts for any number of threads. A short rest would be computed by another kernel, with
  // other roundings: it is computed with the rows before it, as many as in every part.
  const std::int64_t parts = (records + kRows - 1) / kRows;
  for_records(parts, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t first = from * kRows; first < std::min(to * kRows, records); first += kRows) {
      const std::int64_t last = std::min(first + kRows, records);
      if (last - first == kRows || parts == 1) {
        small_product(last - first, p, d, {px + first * d, d}, {w, d, true}, out + first * p, 1);
      } else {
        std::vector<float> rest;
        rest.reserve(static_cast<std::size_t>(kRows * p));
        for (std::int64_t i = 0; i < kRows; ++i)  // the bias still stands there
          rest.insert(rest.end(), out + first * p, out + first * p + p);
        small_product(kRows, p, d, {px + (last - kRows) * d, d}, {w, d, true}, rest.data(), 1);
        std::copy(rest.end() - (last - first) * p, rest.end(), out + first * p);
      }
      for (std::int64_t i = first; i < last; ++i)
        squares[static_cast<std::size_t>(i)] = squares_of(px + i * d, d);
    }
  });
  return y;
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
      if (squares == nullptr) continue;
      (*squares)[i] = squares_of(g, p * d);
      if (keep) continue;  // what is measured is what will be added
      TermNorms norms;
      for (std::int64_t s = 0; s < t; ++s)
        norms.add(squares_of(pa + i * sa + s * ta, d), squares_of(pb + i * sb + s * tb, p));
      (*squares)[i] += norms.surcharge(2 * t, d, p);
    }
  });
  return out;
}

void TermNorms::add(double a_square, double b_square) {
  const double a = std::sqrt(a_square), b = std::sqrt(b_square);
  mass_ += a * b;
  a_ += a;
  b_ += b;
}

// Sums of n terms are off by n·u times their mass, to first order; 1.01 pays for the higher orders.
// Products below the smallest float vanish: at most 2⁻¹⁴⁹ each, d or p of them for every pair of
// terms.
double TermNorms::surcharge(std::int64_t n, std::int64_t d, std::int64_t p) const {
  if (mass_ == 0) return 0;  // in every term a or b is zero, and so is the gradient
  const double rounding = std::max(1.01 * static_cast<double>(n) * 0x1p-24, kMassShare);
  return rounding * mass_ * mass_ +
         0x1p-149 * (static_cast<double>(d) * b_ * b_ + static_cast<double>(p) * a_ * a_);
}

// Products of numbers that lie by column (n rows of t) go through BLAS' kernels for small matrices:
// blocks of the lower triangle, so deep that a block's numbers stay in the cache. An entry is one
// sum of n products however it is cut.
void gram(std::int64_t t, std::int64_t n, Operand x, float* out, double* squares) {
  constexpr std::int64_t kRows = 16, kColumns = 128, kDepth = 128;
  thread_local std::vector<float> turned;
  if (!x.transposed) turned.resize(static_cast<std::size_t>(t * std::min(n, kDepth)));
  for (std::int64_t k = 0; k < n; k += kDepth) {
    const std::int64_t depth = std::min(kDepth, n - k);
    const float* part = turned.data();
    if (x.transposed)
      part = x.data + k * t;
    else
      transpose(x.data + k, x.stride, t, depth, turned.data());
    add_squares_of_columns(part, depth, t, squares);
    for (std::int64_t r = 0; r < t; r += kRows) {
      const std::int64_t rows = std::min(kRows, t - r);
      for (std::int64_t c = 0; c < r + rows; c += kColumns)
        add_product({part + r, t}, {part + c, t}, rows, std::min(kColumns, r + rows - c), depth,
                    out + r * t + c, t, k == 0 ? 0 : 1);
    }
  }
}

double Grams::squared_norm(std::int64_t d, Operand a, std::int64_t p, Operand b) {
  std::fill(squares_.begin(), squares_.end(), 0);
  float *ga = entries_.data(), *gb = ga + t_ * t_;
  double *sa = squares_.data(), *sb = sa + t_;
  gram(t_, d, a, ga, sa);
  gram(t_, p, b, gb, sb);
  TermNorms norms;
  double diagonal = 0, below = 0;
  for (std::int64_t s = 0; s < t_; ++s) {
    norms.add(sa[s], sb[s]);
    diagonal += static_cast<double>(ga[s * t_ + s]) * static_cast<double>(gb[s * t_ + s]);
    below += dot(ga + s * t_, gb + s * t_, s);
  }
  const double sum = diagonal + 2 * below;
  return (sum > 0 ? sum : sum * 0) + norms.surcharge(d + p + 2, d, p);
}

std::vector<double> ghost_squares(const torch::Tensor& a, const torch::Tensor& b) {
  const std::int64_t records = a.size(0), t = a.size(1), d = a.size(2), p = b.size(2);
  std::vector<double> squares(static_cast<std::size_t>(records));
  const float *pa = a.data_ptr<float>(), *pb = b.data_ptr<float>();
  const std::int64_t sa = a.stride(0), sb = b.stride(0), ta = std::max(a.stride(1), d),
                     tb = std::max(b.stride(1), p);
  for_records(records, [&](std::int64_t first, std::int64_t last) {
    Grams grams(t);
    for (std::int64_t i = first; i < last; ++i)
      squares[i] = grams.squared_norm(d, {pa + i * sa, ta}, p, {pb + i * sb, tb});
  });
  return squares;
}

}  // namespace sotto::deep
