#include "sotto/deep/models/network.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"

namespace sotto::deep {
namespace {

constexpr std::array<std::string_view, 3> kKinds = {"softmax", "mlp", "cnn"};
constexpr std::array<std::string_view, 6> kActivations = {"tanh",       "relu", "sigmoid",
                                                          "leaky_relu", "silu", "gelu"};

std::int64_t elements(const std::vector<std::int64_t>& shape) {
  std::int64_t n = 1;
  for (const std::int64_t extent : shape) n *= extent;
  return n;
}

NetworkOptions checked(NetworkOptions options) {
  for (const auto* list : {&options.input, &options.hidden})
    for (const std::int64_t extent : *list)
      if (extent < 1)
        throw InvalidArgument(fmt::format("a layer has {} units; it needs at least 1", extent));
  if (options.input.empty()) throw InvalidArgument("the network has no input shape");
  if (options.outputs < 1)
    throw InvalidArgument(
        fmt::format("the network has {} outputs; it needs at least 1", options.outputs));
  if (options.kind == NetworkKind::mlp && options.hidden.empty()) options.hidden = {128};
  if (options.kind == NetworkKind::cnn && options.input.size() != 3)
    throw InvalidArgument(
        fmt::format(
            "the model cnn takes images (channels, height, width), not records of shape ({})",
            fmt::join(options.input, ", ")),
        "use the model mlp for tables");
  return options;
}

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
  layers->push_back(std::string("flatten"), torch::nn::Flatten());
  std::int64_t width = elements(options.input);
  int number = 1;
  if (options.kind == NetworkKind::mlp) {
    for (const std::int64_t hidden : options.hidden) {
      layers->push_back(fmt::format("dense{}", number), torch::nn::Linear(width, hidden));
      add_activation(layers, fmt::format("activation{}", number++), options.activation);
      width = hidden;
    }
  }
  layers->push_back(std::string("output"), torch::nn::Linear(width, options.outputs));
}

constexpr std::int64_t kChannels1 = 16, kChannels2 = 32, kHidden = 32;

void add_convolutions(torch::nn::Sequential& layers, const NetworkOptions& options) {
  using Conv = torch::nn::Conv2dOptions;
  torch::nn::Conv2d first(Conv(options.input[0], kChannels1, 8).stride(2).padding(3)),
      second(Conv(kChannels1, kChannels2, 4).stride(2));
  std::int64_t width = kChannels2;
  for (const std::int64_t side : {options.input[1], options.input[2]}) {
    const std::int64_t pooled =
        (side - 2) / 2 + 1 - 1;  // 8 wide, stride 2, padding 3; then 2 wide, stride 1
    if (side < 2 || pooled < 5)
      throw InvalidArgument(fmt::format("images of {}x{} are too small for the model cnn",
                                        options.input[1], options.input[2]),
                            "use the model mlp");
    width *= (pooled - 4) / 2 + 1 - 1;
  }
  const auto pool = torch::nn::MaxPool2dOptions(2).stride(1);
  layers->push_back(std::string("conv1"), first);
  add_activation(layers, "activation1", options.activation);
  layers->push_back(std::string("pool1"), torch::nn::MaxPool2d(pool));
  layers->push_back(std::string("conv2"), second);
  add_activation(layers, "activation2", options.activation);
  layers->push_back(std::string("pool2"), torch::nn::MaxPool2d(pool));
  layers->push_back(std::string("flatten"), torch::nn::Flatten());
  layers->push_back(std::string("dense1"), torch::nn::Linear(width, kHidden));
  add_activation(layers, "activation3", options.activation);
  layers->push_back(std::string("output"), torch::nn::Linear(kHidden, options.outputs));
}

}  // namespace

std::string_view name(NetworkKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }
NetworkKind parse_network(std::string_view text) {
  for (std::size_t i = 0; i < kKinds.size(); ++i)
    if (kKinds[i] == text) return static_cast<NetworkKind>(i);
  throw InvalidArgument(fmt::format("'{}' is not a network", text), "choose softmax, mlp or cnn");
}
std::string_view name(Activation activation) {
  return kActivations[static_cast<std::size_t>(activation)];
}
Activation parse_activation(std::string_view text) {
  for (std::size_t i = 0; i < kActivations.size(); ++i)
    if (kActivations[i] == text) return static_cast<Activation>(i);
  throw InvalidArgument(fmt::format("'{}' is not an activation", text),
                        "choose tanh, relu, sigmoid, leaky_relu, silu or gelu");
}

nlohmann::ordered_json to_json(const NetworkOptions& options) {
  return {{"schema", 1},
          {"kind", name(options.kind)},
          {"input", options.input},
          {"outputs", options.outputs},
          {"hidden", options.hidden},
          {"activation", name(options.activation)}};
}

NetworkOptions network_from_json(const nlohmann::ordered_json& json) {
  try {
    return {.kind = parse_network(json.at("kind").get<std::string>()),
            .input = json.at("input").get<std::vector<std::int64_t>>(),
            .outputs = json.at("outputs").get<std::int64_t>(),
            .hidden = json.at("hidden").get<std::vector<std::int64_t>>(),
            .activation = parse_activation(json.at("activation").get<std::string>())};
  } catch (const nlohmann::json::exception& e) {
    throw DataError(fmt::format("the description of the network cannot be read: {}", e.what()));
  }
}

NetworkImpl::NetworkImpl(NetworkOptions options) : options_(checked(std::move(options))) {
  if (options_.kind == NetworkKind::cnn)
    add_convolutions(layers_, options_);
  else
    add_dense(layers_, options_);
  register_module("layers", layers_);
}

torch::Tensor NetworkImpl::forward(const torch::Tensor& input) { return layers_->forward(input); }

std::uint64_t count_parameters(const torch::nn::Module& model) {
  std::int64_t count = 0;
  for (const auto& p : model.parameters())
    if (p.requires_grad()) count += p.numel();
  return static_cast<std::uint64_t>(count);
}

}  // namespace sotto::deep
