// Linear layers with per-sample gradients: y = x·Wᵀ + b over any leading axes, the first of which
// counts records.
//
// What       deep::Linear is torch::nn::Linear (same options, parameters and names) whose backward
//            pass reports to a Recorder when one is current, and is the ordinary one otherwise.
//            linear() is the same as a function, also for some rows of a weight.
// Guarantee  None by itself (see recorder.hpp).
// Method     g_i = Σ_t b_it a_itᵀ for the weight (OuterTerm), Σ_t b_it for the bias (bias_term).
// Numerics   As in gradient_term.hpp.
// Reference  docs/math/per-sample-clipping.md.
#pragma once

#include <torch/torch.h>

#include <string>

#include "sotto/deep/gradient_term.hpp"

namespace sotto::deep {

// rows: which rows of weight and bias to use (for stacked projections).
torch::Tensor linear(const torch::Tensor& input, const torch::Tensor& weight,
                     const torch::Tensor& bias = {}, const std::string& layer = "linear",
                     Rows rows = {});

class LinearImpl : public torch::nn::LinearImpl {
 public:
  using torch::nn::LinearImpl::LinearImpl;
  // Takes over the parameters of an ordinary layer: both then train the same tensors.
  explicit LinearImpl(const torch::nn::LinearImpl& other) : torch::nn::LinearImpl(other) {}
  torch::Tensor forward(const torch::Tensor& input) { return linear(input, weight, bias); }
};
TORCH_MODULE(Linear);

}  // namespace sotto::deep
