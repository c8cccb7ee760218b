#include "sotto/deep/detail/layer_call.hpp"

#include <fmt/format.h>

#include "sotto/core/error.hpp"
#include "sotto/deep/detail/shift_in_place.hpp"
#include "sotto/deep/rows/detail/transcript.hpp"

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

// A private layer that a model calls by name.
void require_rows(rows::Pass& pass, const LayerCall& call, const Tensors& tensors,
                  std::size_t inputs) {
  pass.enter(&call.layer());
  if (pass.transcript() != nullptr) pass.transcript()->size_matters();  // its options are not seen
  for (std::size_t k = 0; k < tensors.size(); ++k) {
    if (!tensors[k].defined()) continue;
    const rows::Axis axis = pass.axis(tensors[k]);
    if (!axis.holds_records()) continue;
    if (k >= inputs) pass.refuse("the weights hold records");
    if (pass.records() > 1 && axis != rows::Axis{call.input_axis(k), 1, 1})
      pass.refuse("records are not on the axis where the layer expects them",
                  "give the batch as (records, …)");
    if (pass.locks() != nullptr) pass.locks()->open(tensors[k]);
  }
}

}  // namespace

Tensors apply_call(const c10::intrusive_ptr<LayerCall>& call, const Tensors& inputs,
                   const Tensors& parameters) {
  Tensors tensors = inputs;
  for (const auto& p : parameters)
    if (p.defined()) tensors.push_back(p);
  rows::Pass* const pass = rows::Pass::current();
  const bool by_name = rows::Pass::watching();
  if (by_name) require_rows(*pass, *call, tensors, inputs.size());
  // The pass knows private layers as a whole.
  const c10::impl::ExcludeDispatchKeyGuard unwatched(rows::kWatchKey);
  Tensors result =
      CallFunction::apply(c10::IValue::make_capsule(call), static_cast<std::int64_t>(inputs.size()),
                          at::TensorList(tensors));
  if (pass != nullptr)
    for (std::size_t k = 0; k < result.size(); ++k)
      pass->place(result[k], {call->output_axis(k), 1, 1});
  if (by_name && pass->locks() != nullptr) {
    for (const auto& r : result) pass->locks()->note(r);
    pass->locks()->close();
  }
  return result;
}

bool is_private_layer(const torch::autograd::Node& node) {
  return typeid(node) == typeid(torch::autograd::CppNode<CallFunction>) || is_shift_in_place(node);
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
