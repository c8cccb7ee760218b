// The inner loops of per-sample gradients: row norms, many small matrix products, ghost norms. Floats in, doubles out.
//
// All tensors are contiguous 32-bit floats on the processor. Loops are parallel over records, so a record's figure does not
// depend on the others.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace sotto::deep {

// ‖row‖² of a (rows, …) tensor, accumulated in double.
std::vector<double> row_squares(const torch::Tensor& matrix);

// C (m × n) = A (m × k) · B (k × n), or with Bᵀ where b is stored (n × k); row major, on the calling thread when inside a
// parallel loop.
void small_product(std::int64_t m, std::int64_t n, std::int64_t k, const float* a, bool transpose_a,
                   const float* b, bool transpose_b, float* c, float beta = 0);

// g_i = b_iᵀ a_i for a (B, T, d) and b (B, T, p): (B, p·d). When keep is false only the norms are computed and the result is
// undefined. squares receives ‖g_i‖².
torch::Tensor outer_products(const torch::Tensor& a, const torch::Tensor& b, bool keep,
                             std::vector<double>* squares);

// ‖Σ_t b_it a_itᵀ‖² = Σ_ts (a_it·a_is)(b_it·b_is), without the products written out; with the surcharge for rounding.
std::vector<double> ghost_squares(const torch::Tensor& a, const torch::Tensor& b);

// Runs f(first, last) on ranges of records, in parallel.
void for_records(std::int64_t records, const std::function<void(std::int64_t, std::int64_t)>& f);

}  // namespace sotto::deep
