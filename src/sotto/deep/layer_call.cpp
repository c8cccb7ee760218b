#include "sotto/deep/layer_call.hpp"

#include <fmt/format.h>

#include "sotto/core/error.hpp"

namespace sotto::deep {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct CallFunction : torch::autograd::Function<CallFunction> {
  static variable_list forward(AutogradContext* context, c10::IValue call, std::int64_t inputs,
                               at::TensorList tensors) {
    context->saved_data["call"] = call;
    context->saved_data["inputs"] = inputs;
    context->saved_data["tensors"] = static_cast<std::int64_t>(tensors.size());
    return static_cast<LayerCall&>(*call.toCapsule()).run();
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto holder = context->saved_data["call"].toCapsule();
    auto& call = static_cast<LayerCall&>(*holder);
    if (Recorder::current() != &call.recorder()) {
      throw Unsupported(
          fmt::format(
              "{}: the backward pass runs outside of the recording its forward pass belongs to",
              call.layer()),
          "compute the losses and leave the backward pass to ClippedSum::add");
    }
    Tensors result = call.back(gradients);
    result.resize(static_cast<std::size_t>(context->saved_data["tensors"].toInt()));
    context->saved_data.clear();
    variable_list all(2);  // nothing for the call itself and the number of inputs
    all.insert(all.end(), result.begin(), result.end());
    return all;
  }
};

}  // namespace

Tensors apply_call(const c10::intrusive_ptr<LayerCall>& call, const Tensors& inputs,
                   const Tensors& parameters) {
  Tensors tensors = inputs;
  for (const auto& p : parameters)
    if (p.defined()) tensors.push_back(p);
  return CallFunction::apply(c10::IValue::make_capsule(call),
                             static_cast<std::int64_t>(inputs.size()), at::TensorList(tensors));
}

const torch::Tensor& Saved::get(const std::string& layer) const {
  if (!tensor_.defined())
    throw Unsupported(fmt::format("{}: a second backward pass through one forward pass", layer));
  if (tensor_._version() != version_) {
    throw Unsupported(
        fmt::format("{}: its input was changed in place after the layer used it", layer),
        "use operations that return a new tensor (x = x + y, not x += y) on inputs of private "
        "layers");
  }
  return tensor_;
}

torch::Tensor Saved::release(const std::string& layer) {
  get(layer);
  return std::move(tensor_);
}

}  // namespace sotto::deep
