#include "sotto/deep/detail/lstm_step.hpp"

#include <ATen/Parallel.h>

#include "sotto/core/vector_clones.hpp"

namespace sotto::deep {
namespace {

constexpr std::int64_t kRowsAtOnce = 16;

SOTTO_CLONES void forward_row(const float* __restrict gate, const float* __restrict c,
                              float* __restrict next, std::int64_t n) {
  for (std::int64_t k = 0; k < n; ++k) next[k] = gate[n + k] * c[k] + gate[k] * gate[2 * n + k];
}

SOTTO_CLONES void backward_row(float* __restrict gate, const float* __restrict c,
                               const float* __restrict tanh_c, const float* __restrict dh,
                               float* __restrict dc, std::int64_t n) {
  for (std::int64_t k = 0; k < n; ++k) {
    const float i = gate[k], f = gate[n + k], g = gate[2 * n + k], o = gate[3 * n + k],
                t = tanh_c[k];
    const float d = dc[k] + dh[k] * o * (1 - t * t);
    gate[3 * n + k] = dh[k] * t * o * (1 - o);
    gate[k] = d * g * i * (1 - i);
    gate[n + k] = d * c[k] * f * (1 - f);
    gate[2 * n + k] = d * i * (1 - g * g);
    dc[k] = d * f;
  }
}

}  // namespace

void lstm_cell(const torch::Tensor& gate, const torch::Tensor& c, torch::Tensor& next) {
  const std::int64_t n = c.size(1);
  const float *pg = gate.data_ptr<float>(), *pc = c.data_ptr<float>();
  float* out = next.data_ptr<float>();
  at::parallel_for(0, c.size(0), kRowsAtOnce, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i)
      forward_row(pg + i * 4 * n, pc + i * n, out + i * n, n);
  });
}

void lstm_cell_backward(torch::Tensor& gate, const torch::Tensor& c_before,
                        const torch::Tensor& tanh_c, const torch::Tensor& dh, torch::Tensor& dc) {
  const std::int64_t n = c_before.size(1);
  const float *c = c_before.data_ptr<float>(), *t = tanh_c.data_ptr<float>(),
              *h = dh.data_ptr<float>();
  float *g = gate.data_ptr<float>(), *d = dc.data_ptr<float>();
  at::parallel_for(0, c_before.size(0), kRowsAtOnce, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i)
      backward_row(g + i * 4 * n, c + i * n, t + i * n, h + i * n, d + i * n, n);
  });
}

}  // namespace sotto::deep
