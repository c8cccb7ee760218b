// Detail: the pointwise part of an LSTM step, fused. gate (B, 4·hidden) holds i, f, g, o;
// everything contiguous.
#pragma once

#include <torch/torch.h>

namespace sotto::deep {

// next = f∘c + i∘g.
void lstm_cell(const torch::Tensor& gate, const torch::Tensor& c, torch::Tensor& next);
// From dh and dc of this step to the gradient before the gates' nonlinearities (into gate) and dc
// of the step before (into dc).
void lstm_cell_backward(torch::Tensor& gate, const torch::Tensor& c_before,
                        const torch::Tensor& tanh_c, const torch::Tensor& dh, torch::Tensor& dc);

}  // namespace sotto::deep
