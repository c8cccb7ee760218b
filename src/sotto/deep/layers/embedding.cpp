#include "sotto/deep/layers/embedding.hpp"

#include "sotto/core/error.hpp"
#include "sotto/deep/layer_call.hpp"

namespace sotto::deep {
namespace {

class EmbeddingCall : public LayerCall {
 public:
  EmbeddingCall(torch::Tensor weight, const torch::Tensor& indices, std::int64_t padding,
                const std::string& layer)
      : LayerCall(layer), weight_(std::move(weight)), indices_(indices), padding_(padding) {
    recorder().expect(weight_, indices, layer);
  }
  Tensors run() override {
    const auto& indices = indices_.get(layer());
    const auto outside = indices.lt(0).logical_or_(indices.ge(weight_.size(0)));
    if (!outside.any().item<bool>()) return {torch::embedding(weight_, indices, padding_)};
    outside_ = outside.unsqueeze(-1);
    return {torch::embedding(weight_, indices.masked_fill(outside, 0), padding_)
                .masked_fill_(outside_, 0)};
  }
  Tensors back(const Tensors& gradients) override {
    auto indices = indices_.release(layer());
    auto gradient = gradients[0];
    if (outside_.defined()) {
      indices = indices.masked_fill(outside_.squeeze(-1), 0);
      gradient = gradient.masked_fill(outside_, 0);
    }
    recorder().add(weight_, std::make_unique<GatherUse>(
                                indices.reshape({indices.size(0), -1}).to(torch::kLong),
                                gradient.reshape({indices.size(0), -1, weight_.size(1)}),
                                weight_.size(0), padding_));
    return {};
  }

 private:
  torch::Tensor weight_;
  Saved indices_;
  // Tokens that the table does not have read as zeros and teach nothing: an error would say something of one private record.
  torch::Tensor outside_;
  std::int64_t padding_;
};

}  // namespace

torch::Tensor embedding(const torch::Tensor& weight, const torch::Tensor& indices,
                        std::int64_t padding_idx, const std::string& layer) {
  if (Recorder::current() == nullptr || !torch::GradMode::is_enabled() || !weight.requires_grad())
    return torch::embedding(weight, indices, padding_idx);
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
