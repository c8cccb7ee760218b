#include "sotto/deep/layers/linear.hpp"

#include "sotto/deep/layer_call.hpp"

namespace sotto::deep {
namespace {

torch::Tensor rows_of(const torch::Tensor& parameter, Rows rows) {
  return rows.count < 0 || !parameter.defined() ? parameter
                                                : parameter.narrow(0, rows.first, rows.count);
}

// (B, …, n) as (B, T, n).
torch::Tensor as_sequence(const torch::Tensor& tensor) {
  return tensor.contiguous().view({tensor.size(0), -1, tensor.size(-1)});
}

class LinearCall : public LayerCall {
 public:
  LinearCall(const torch::Tensor& input, torch::Tensor weight, torch::Tensor bias,
             const std::string& layer, Rows rows)
      : LayerCall(layer),
        input_(input),
        weight_(std::move(weight)),
        bias_(std::move(bias)),
        rows_(rows),
        needs_input_(input.requires_grad()) {
    train_weight_ = recorder().expect(weight_, input, layer);
    train_bias_ = recorder().expect(bias_, input, layer);
  }

  Tensors run() override {
    return {torch::linear(input_.get(layer()), rows_of(weight_, rows_), rows_of(bias_, rows_))};
  }

  Tensors back(const Tensors& gradients) override {
    const torch::Tensor input = input_.release(layer());
    const auto b = as_sequence(gradients[0]);
    Tensors result(1);
    if (needs_input_) {
      const auto weight = rows_of(weight_, rows_).detach();
      result[0] = b.view({-1, b.size(2)}).mm(weight).view(input.sizes());
    }
    if (train_weight_) {
      auto use = std::make_unique<OuterUse>(as_sequence(input), b);
      use->rows = rows_;
      recorder().add(weight_, std::move(use));
    }
    if (train_bias_) {
      auto use = bias_use(b);
      use->rows = rows_;
      recorder().add(bias_, std::move(use));
    }
    return result;
  }

 private:
  Saved input_;
  torch::Tensor weight_, bias_;
  Rows rows_;
  bool needs_input_, train_weight_ = false, train_bias_ = false;
};

}  // namespace

torch::Tensor linear(const torch::Tensor& input, const torch::Tensor& weight,
                     const torch::Tensor& bias, const std::string& layer, Rows rows) {
  if (Recorder::current() == nullptr || !torch::GradMode::is_enabled())
    return torch::linear(input, rows_of(weight, rows), rows_of(bias, rows));
  auto call = c10::make_intrusive<LinearCall>(input, weight, bias, layer, rows);
  return apply_call(call, {input}, {weight, bias})[0];
}

}  // namespace sotto::deep
