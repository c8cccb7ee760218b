// Convolutions with per-sample gradients, in one, two and three dimensions, with groups, stride,
// padding and dilation.
//
// What       deep::Conv1d/2d/3d are the torch::nn layers (same options, parameters and names) that
//            report to a Recorder when one is current. convolution() is the same as a function.
// Guarantee  None by itself (see recorder.hpp).
// Method     A convolution is a linear map of the patch under each output position, so g_i = Σ_t
//            b_it patch_itᵀ; ghost norm, or gradients written out, by cost.hpp. Patches are laid
//            out one record at a time and never for the whole batch.
// Numerics   As in gradient_term.hpp.
// Reference  [BWZK23]; docs/math/per-sample-clipping.md.
#pragma once

#include <torch/torch.h>

#include <string>

namespace sotto::deep {

struct ConvShape {
  std::vector<std::int64_t> stride, padding, dilation;  // one entry for each dimension of space
  std::int64_t groups = 1;
};

torch::Tensor convolution(const torch::Tensor& input, const torch::Tensor& weight,
                          const torch::Tensor& bias, const ConvShape& shape,
                          const std::string& layer = "convolution");
// padding="same" and "valid", as torch writes them.
torch::Tensor convolution(const torch::Tensor& input, const torch::Tensor& weight,
                          const torch::Tensor& bias, ConvShape shape, c10::string_view padding,
                          const std::string& layer = "convolution");

}  // namespace sotto::deep
