// Normalisation inside a record: LayerNorm, GroupNorm, InstanceNorm, RMSNorm, with per-sample
// gradients of their scales and shifts.
//
// What       layer_norm and group_norm as functions; InstanceNorm is group_norm with one channel a
//            group. RMSNorm as a module.
//            BatchNorm has no per-sample gradient: its output for one record depends on the others.
// Guarantee  None by itself (see recorder.hpp).
// Method     Scale: Σ_t x̂_it∘b_it, shift: Σ_t b_it, written out in one pass over the record.
//            Statistics are the record's own.
// Numerics   Sums over positions in float, per record.
// Reference  docs/math/per-sample-clipping.md.
#pragma once

#include <torch/torch.h>

#include <string>
#include <vector>

namespace sotto::deep {

// terms_first: the input is (T, B, …).
torch::Tensor layer_norm(const torch::Tensor& input, const std::vector<std::int64_t>& shape,
                         const torch::Tensor& weight, const torch::Tensor& bias, double eps = 1e-5,
                         const std::string& layer = "layer_norm", bool terms_first = false);
// input (B, channels, …); weight and bias have one entry for each channel, or are undefined.
torch::Tensor group_norm(const torch::Tensor& input, std::int64_t groups,
                         const torch::Tensor& weight, const torch::Tensor& bias, double eps = 1e-5,
                         const std::string& layer = "group_norm");

// x/√(mean of x² over the last axis + eps)∘weight.
class RMSNormImpl : public torch::nn::Module {
 public:
  explicit RMSNormImpl(std::int64_t size, double eps = 1e-6);
  torch::Tensor forward(const torch::Tensor& input);
  torch::Tensor weight;

 private:
  double eps_;
};
TORCH_MODULE(RMSNorm);

}  // namespace sotto::deep
