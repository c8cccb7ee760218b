#include "sotto/deep/models/network.hpp"

#include <fmt/format.h>

namespace sotto::deep {
namespace {

void add_activation(torch::nn::Sequential& layers, const std::string& name, Activation activation) {
  const auto add = [&](auto module) { layers->push_back(std::string(name), module); };
  switch (activation) {
    case Activation::tanh: return add(torch::nn::Tanh());
    case Activation::relu: return add(torch::nn::ReLU());
    case Activation::sigmoid: return add(torch::nn::Sigmoid());
    case Activation::leaky_relu: return add(torch::nn::LeakyReLU());
    case Activation::silu: return add(torch::nn::SiLU());
    case Activation::gelu: return add(torch::nn::GELU());
  }
}

void add_dense(torch::nn::Sequential& layers, const NetworkOptions& options) {
  const bool sequence = options.kind == NetworkKind::sequence;
  if (!sequence) layers->push_back(std::string("flatten"), torch::nn::Flatten());
  std::int64_t width = sequence ? options.context * kSequenceWidth : options.features();
  int number = 1;
  if (options.kind != NetworkKind::softmax) {
    for (const std::int64_t hidden : options.hidden) {
      layers->push_back(fmt::format("dense{}", number), torch::nn::Linear(width, hidden));
      add_activation(layers, fmt::format("activation{}", number++), options.activation);
      width = hidden;
    }
  }
  layers->push_back(std::string("output"), torch::nn::Linear(width, options.outputs));
}

void add_convolutions(torch::nn::Sequential& layers, const NetworkOptions& options) {
  using Conv = torch::nn::Conv2dOptions;
  torch::nn::Conv2d first(Conv(options.input[0], kChannels1, kConvolution1).stride(2).padding(3)),
      second(Conv(kChannels1, kChannels2, kConvolution2).stride(2));
  const std::int64_t width =
      kChannels2 * side_after_pooling(options.input[1]) * side_after_pooling(options.input[2]);
  const auto pool = torch::nn::MaxPool2dOptions(2).stride(1);
  layers->push_back(std::string("conv1"), first);
  add_activation(layers, "activation1", options.activation);
  layers->push_back(std::string("pool1"), torch::nn::MaxPool2d(pool));
  layers->push_back(std::string("conv2"), second);
  add_activation(layers, "activation2", options.activation);
  layers->push_back(std::string("pool2"), torch::nn::MaxPool2d(pool));
  layers->push_back(std::string("flatten"), torch::nn::Flatten());
  layers->push_back(std::string("dense1"), torch::nn::Linear(width, kCnnHidden));
  add_activation(layers, "activation3", options.activation);
  layers->push_back(std::string("output"), torch::nn::Linear(kCnnHidden, options.outputs));
}

}  // namespace

NetworkImpl::NetworkImpl(NetworkOptions options) : options_(checked(std::move(options))) {
  if (options_.kind == NetworkKind::cnn)
    add_convolutions(layers_, options_);
  else
    add_dense(layers_, options_);
  register_module("layers", layers_);
  if (options_.kind != NetworkKind::sequence) return;
  values_ = torch::nn::Embedding(options_.outputs + 1, kSequenceWidth);  // the last: before all
  register_module("values", values_);
}

torch::Tensor NetworkImpl::forward(const torch::Tensor& input) {
  if (options_.kind != NetworkKind::sequence) return layers_->forward(input);
  const std::int64_t places = options_.input[0], context = options_.context;
  // Made of the records' own rows, so that nothing depends on how many there are.
  std::vector<torch::Tensor> row(static_cast<std::size_t>(context),
                                 input.narrow(1, 0, 1).mul(0).add(options_.outputs));
  row.push_back(input.narrow(1, 0, places - 1));
  const torch::Tensor rows = values_(torch::cat(row, 1));
  std::vector<torch::Tensor> seen;  // what stands so many places before each
  for (std::int64_t k = 0; k < context; ++k) seen.push_back(rows.narrow(1, k, places));
  return layers_->forward(torch::cat(seen, 2));
}

std::uint64_t count_parameters(const torch::nn::Module& model) {
  std::int64_t count = 0;
  for (const auto& p : model.parameters())
    if (p.requires_grad()) count += p.numel();
  return static_cast<std::uint64_t>(count);
}

}  // namespace sotto::deep
