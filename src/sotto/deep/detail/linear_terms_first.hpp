// Detail: linear() for sequences given as (T, B, n), as torch's Transformer has them.
#pragma once

#include <torch/torch.h>

#include "sotto/deep/gradient_term.hpp"

namespace sotto::deep {

// Defined in layers/linear.cpp.
torch::Tensor linear_terms_first(const torch::Tensor& input, const torch::Tensor& weight,
                                 const torch::Tensor& bias, Rows rows);

}  // namespace sotto::deep
