#include "sotto/deep/layers/detail/parameter.hpp"

#include <fmt/format.h>

#include "sotto/core/error.hpp"
#include "sotto/deep/detail/layer_call.hpp"

namespace sotto::deep {
namespace {

void require_last_axes(const std::string& layer, const torch::Tensor& input,
                       const torch::Tensor& p) {
  if (input.dim() > p.dim() &&
      input.sizes().slice(static_cast<std::size_t>(input.dim() - p.dim())) == p.sizes())
    return;
  throw InvalidArgument(
      fmt::format("{}: the parameter has shape ({}), which are not the last axes of the input ({})",
                  layer, fmt::join(p.sizes().vec(), ", "), fmt::join(input.sizes().vec(), ", ")));
}

// (B, …, last axes) to (B, elements of the parameter).
torch::Tensor by_record(const torch::Tensor& gradient, std::int64_t elements) {
  const auto terms = gradient.reshape({gradient.size(0), -1, elements});
  return terms.size(1) == 1 ? terms.squeeze(1) : terms.sum(1);
}

class ScaleCall : public LayerCall {
 public:
  ScaleCall(const torch::Tensor& input, torch::Tensor weight, const std::string& layer)
      : LayerCall(layer),
        input_(input),
        weight_(std::move(weight)),
        needs_input_(input.requires_grad()) {
    train_ = recorder().expect(weight_, input, layer);
  }
  Tensors run() override { return {input_.get(layer()) * weight_}; }
  Tensors back(const Tensors& gradients) override {
    const auto input = input_.release(layer());
    if (train_)
      recorder().add(
          weight_, std::make_unique<DirectTerm>(by_record(input * gradients[0], weight_.numel())));
    return {needs_input_ ? gradients[0] * weight_.detach() : torch::Tensor()};
  }

 private:
  Saved input_;
  torch::Tensor weight_;
  bool needs_input_, train_ = false;
};

class ShiftCall : public LayerCall {
 public:
  ShiftCall(const torch::Tensor& input, torch::Tensor bias, const std::string& layer)
      : LayerCall(layer), input_(input.detach()), bias_(std::move(bias)) {
    train_ = recorder().expect(bias_, input, layer);
  }
  Tensors run() override { return {std::exchange(input_, {}) + bias_}; }
  Tensors back(const Tensors& gradients) override {
    if (train_)
      recorder().add(bias_, std::make_unique<DirectTerm>(by_record(gradients[0], bias_.numel())));
    return {gradients[0]};
  }

 private:
  torch::Tensor input_, bias_;
  bool train_ = false;
};

class PerRecordCall : public LayerCall {
 public:
  PerRecordCall(torch::Tensor parameter, std::int64_t records, const std::string& layer)
      : LayerCall(layer), parameter_(std::move(parameter)), records_(records) {
    train_ = recorder().expect(parameter_, torch::empty({records}), layer);
  }
  Tensors run() override {
    std::vector<std::int64_t> sizes = parameter_.sizes().vec();
    sizes.insert(sizes.begin(), records_);
    return {parameter_.unsqueeze(0).expand(sizes).clone()};
  }
  Tensors back(const Tensors& gradients) override {
    if (train_)
      recorder().add(parameter_,
                     std::make_unique<DirectTerm>(gradients[0].reshape({records_, -1})));
    return {};
  }

 private:
  torch::Tensor parameter_;
  std::int64_t records_;
  bool train_ = false;
};

}  // namespace

torch::Tensor scale(const torch::Tensor& input, const torch::Tensor& weight,
                    const std::string& layer) {
  require_last_axes(layer, input, weight);
  if (!recording()) return input * weight;
  return apply_call(c10::make_intrusive<ScaleCall>(input, weight, layer), {input}, {weight})[0];
}

torch::Tensor shift(const torch::Tensor& input, const torch::Tensor& bias,
                    const std::string& layer) {
  require_last_axes(layer, input, bias);
  if (!recording()) return input + bias;
  return apply_call(c10::make_intrusive<ShiftCall>(input, bias, layer), {input}, {bias})[0];
}

torch::Tensor per_record(const torch::Tensor& parameter, std::int64_t records,
                         const std::string& layer) {
  if (!recording()) {
    std::vector<std::int64_t> sizes = parameter.sizes().vec();
    sizes.insert(sizes.begin(), records);
    return parameter.unsqueeze(0).expand(sizes);
  }
  return apply_call(c10::make_intrusive<PerRecordCall>(parameter, records, layer), {},
                    {parameter})[0];
}

}  // namespace sotto::deep
