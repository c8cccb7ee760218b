// Embeddings with per-sample gradients.
//
// What       embedding(weight, indices): rows of a table, indices (B, …). deep::Embedding is
//            torch::nn::Embedding with it.
// Guarantee  None by itself (see recorder.hpp).
// Method     GatherTerm: equal tokens of a record are added up before squares are taken;
//            padding_idx gets no gradient. Never one-hot.
//            Options that couple records (max_norm, scale_grad_by_freq) are refused.
// Numerics   As in gradient_term.hpp.
// Reference  docs/math/per-sample-clipping.md.
#pragma once

#include <torch/torch.h>

#include <string>

namespace sotto::deep {

torch::Tensor embedding(const torch::Tensor& weight, const torch::Tensor& indices,
                        std::int64_t padding_idx = -1, const std::string& layer = "embedding");

class EmbeddingImpl : public torch::nn::EmbeddingImpl {
 public:
  using torch::nn::EmbeddingImpl::EmbeddingImpl;
  explicit EmbeddingImpl(const torch::nn::EmbeddingImpl& other) : torch::nn::EmbeddingImpl(other) {}
  torch::Tensor forward(const torch::Tensor& indices);
};
TORCH_MODULE(Embedding);

}  // namespace sotto::deep
