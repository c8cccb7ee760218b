// Detail: y += b as torch::nn::Linear writes it for sequences, with the gradient of b recorded.
#pragma once

#include <torch/torch.h>

#include "sotto/deep/gradient_term.hpp"

namespace sotto::deep {

// terms_first: y is (T, B, n).
void shift_in_place(torch::Tensor& y, const torch::Tensor& bias, Rows rows, bool terms_first);

bool is_shift_in_place(const torch::autograd::Node& node);

}  // namespace sotto::deep
