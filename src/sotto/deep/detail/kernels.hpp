// The inner loops of per-sample gradients: row norms, many small matrix products, ghost norms.
// Floats in, doubles out.
//
// All tensors are contiguous 32-bit floats on the processor. Loops are parallel over records, so a
// record's figure does not depend on the others.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "sotto/deep/detail/float_loops.hpp"

namespace sotto::deep {

// ‖row‖² of a (rows, …) tensor, accumulated in double.
std::vector<double> row_squares(const torch::Tensor& matrix);

// x·Wᵀ + β for x (B, d), W (p, d), β (p) or undefined, with ‖x_i‖² of every record taken while its
// row is in the cache.
torch::Tensor linear_with_squares(const torch::Tensor& x, const torch::Tensor& weight,
                                  const torch::Tensor& bias, std::vector<double>& squares);

// C (m × n) = beta·C + A·B with A (m × k) and B (k × n), row major; a transposed operand is stored
// the other way round. Strides: floats from one stored row to the next, n for C unless given. Runs
// on the calling thread when inside a parallel loop.
struct Operand {
  const float* data;
  std::int64_t stride;
  bool transposed = false;
};
void small_product(std::int64_t m, std::int64_t n, std::int64_t k, Operand a, Operand b, float* c,
                   float beta = 0, std::int64_t c_stride = 0);

// x·Wᵀ + β, and g·W: what torch::linear and torch::matmul give but for rounding, for x (…, d), g
// (…, p), W (p, d), β (p) or undefined. Where BLAS has kernels for small matrices, products of
// middling size are cut into blocks that those take as they lie in memory, without packing. A row
// is then computed alike wherever it stands, if there are 16 rows or more.
bool reads_small_matrices();
torch::Tensor linear_product(const torch::Tensor& x, const torch::Tensor& weight,
                             const torch::Tensor& bias);
torch::Tensor product_with_weight(const torch::Tensor& g, const torch::Tensor& weight);

// C (m × n, a row every `stride` floats) = beta·C + XᵀY with X (k × m) and Y (k × n), both by rows:
// the shape in which BLAS needs no packing when it is small.
struct Columns {
  const float* data;
  std::int64_t stride;
};
void add_product(Columns x, Columns y, std::int64_t m, std::int64_t n, std::int64_t k, float* c,
                 std::int64_t stride, float beta);

// a (B, T, d) and b (B, T, p), last axis contiguous, the others in any order.
// g_i = b_iᵀ a_i: (B, p·d). When keep is false only the norms are computed and the result is
// undefined. squares receives ‖g_i‖².
torch::Tensor outer_products(const torch::Tensor& a, const torch::Tensor& b, bool keep,
                             std::vector<double>* squares);

// ‖Σ_t b_it a_itᵀ‖² = Σ_ts (a_it·a_is)(b_it·b_is), without the products written out; with the
// surcharge for rounding.
std::vector<double> ghost_squares(const torch::Tensor& a, const torch::Tensor& b);

// What the terms of one record's gradient Σ_t b_t a_tᵀ weigh before they cancel. Where the weighted
// sum adds up terms rather than the gradient that was measured, terms that cancel would still round
// others away: the surcharge on the squared norm keeps c·mass below
// C/√kMassShare, 512·C.
class TermNorms {
 public:
  static constexpr double kMassShare = 0x1p-18;
  void add(double a_square, double b_square);  // of one term
  // n: products in one entry that was measured; d, p: lengths of a_t and b_t.
  double surcharge(std::int64_t n, std::int64_t d, std::int64_t p) const;

 private:
  double mass_ = 0, a_ = 0, b_ = 0;  // Σ_t ‖a_t‖‖b_t‖, Σ_t ‖a_t‖, Σ_t ‖b_t‖
};

// X·Xᵀ of the t × n matrix X: the lower triangle of out (t × t, row major); what stands above it is
// not said. squares: of the rows of X, added. A transposed X lies in one piece (n rows of t).
void gram(std::int64_t t, std::int64_t n, Operand x, float* out, double* squares);

// ‖Σ_t b_t a_tᵀ‖² = Σ_ts (a_t·a_s)(b_t·b_s) of one record, with the surcharge for rounding: each
// entry of a Gram matrix of vectors of length n is off by at most n·u·‖x_t‖‖x_s‖, u = 2⁻²⁴, so the
// sum of products by at most (d + p + 2)·u·(Σ_t ‖a_t‖‖b_t‖)² to first order.
class Grams {
 public:
  explicit Grams(std::int64_t t)
      : t_(t),
        entries_(static_cast<std::size_t>(2 * t * t)),
        squares_(static_cast<std::size_t>(2 * t)) {}
  // a: (t, d), b: (t, p), as for gram().
  double squared_norm(std::int64_t d, Operand a, std::int64_t p, Operand b);

 private:
  std::int64_t t_;
  std::vector<float> entries_;
  std::vector<double> squares_;
};

// Runs f(first, last) on ranges of records, in parallel.
void for_records(std::int64_t records, const std::function<void(std::int64_t, std::int64_t)>& f);

}  // namespace sotto::deep
