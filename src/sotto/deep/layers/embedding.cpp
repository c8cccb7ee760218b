#include "sotto/deep/layers/detail/embedding.hpp"

#include "sotto/core/error.hpp"
#include "sotto/deep/detail/layer_call.hpp"
#include "sotto/deep/rows/pass.hpp"

namespace sotto::deep {
namespace {

bool all_known(const torch::Tensor& indices, std::int64_t rows) {
  if (indices.scalar_type() != torch::kLong || !indices.is_contiguous())
    return !indices.lt(0).logical_or_(indices.ge(rows)).any().item<bool>();
  const auto* const token = indices.data_ptr<std::int64_t>();
  bool known = true;
  for (std::int64_t k = 0; k < indices.numel(); ++k) known &= token[k] >= 0 && token[k] < rows;
  return known;
}

// Tokens that the table does not have read as zeros and teach nothing: an error would say something
// of one private record.
torch::Tensor look_up(const torch::Tensor& weight, const torch::Tensor& indices,
                      std::int64_t padding, torch::Tensor& outside) {
  if (all_known(indices, weight.size(0))) return torch::embedding(weight, indices, padding);
  const auto unknown = indices.lt(0).logical_or_(indices.ge(weight.size(0)));
  outside = unknown.unsqueeze(-1);
  return torch::embedding(weight, indices.masked_fill(unknown, 0), padding)
      .masked_fill_(outside, 0);
}

class EmbeddingCall : public LayerCall {
 public:
  EmbeddingCall(torch::Tensor weight, const torch::Tensor& indices, std::int64_t padding,
                const std::string& layer)
      : LayerCall(layer), weight_(std::move(weight)), indices_(indices), padding_(padding) {
    recorder().expect(weight_, indices, layer);
  }
  Tensors run() override { return {look_up(weight_, indices_.get(layer()), padding_, outside_)}; }
  Tensors back(const Tensors& gradients) override {
    auto indices = indices_.release(layer());
    auto gradient = gradients[0];
    if (outside_.defined()) {
      indices = indices.masked_fill(outside_.squeeze(-1), 0);
      gradient = gradient.masked_fill(outside_, 0);
    }
    recorder().add(weight_, std::make_unique<GatherTerm>(
                                indices.reshape({indices.size(0), -1}).to(torch::kLong),
                                gradient.reshape({indices.size(0), -1, weight_.size(1)}),
                                weight_.size(0), padding_));
    return {};
  }

 private:
  torch::Tensor weight_;
  Saved indices_;
  torch::Tensor outside_;
  std::int64_t padding_;
};

}  // namespace

torch::Tensor embedding(const torch::Tensor& weight, const torch::Tensor& indices,
                        std::int64_t padding_idx, const std::string& layer) {
  // Called by name in a forward pass: as an operation, so that the pass sees it and where the
  // records are.
  if (!recording() || rows::Pass::watching()) return torch::embedding(weight, indices, padding_idx);
  torch::Tensor outside;
  if (!weight.requires_grad()) return look_up(weight, indices, padding_idx, outside);
  auto call = c10::make_intrusive<EmbeddingCall>(weight, indices, padding_idx, layer);
  return apply_call(call, {}, {weight})[0];
}

torch::Tensor EmbeddingImpl::forward(const torch::Tensor& indices) {
  if (options.max_norm().has_value() || options.scale_grad_by_freq()) {
    throw Unsupported(
        "embedding: max_norm and scale_grad_by_freq make one record's part depend on others",
        "leave both options at their defaults");
  }
  std::int64_t padding = -1;
  if (options.padding_idx().has_value()) {
    padding = *options.padding_idx();
    if (padding < 0) padding += options.num_embeddings();
  }
  return deep::embedding(weight, indices, padding);
}

}  // namespace sotto::deep
