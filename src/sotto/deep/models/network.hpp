// Networks: the first shelf of models, described by public facts.
//
// What       softmax: one linear map to the classes. mlp: dense layers with an activation between them. cnn: the small convolutional
//            network with tanh of the literature on private training: 8×8 stride 2, pooling, 4×4 stride 2, pooling, 32
//            hidden units (26 010 parameters on 28×28 images).
// Guarantee  None by itself; records do not meet in any layer.
// Method     Ordinary torch::nn layers; inside ClippedSum they report the gradient of every record (intercept.hpp).
// Numerics   32-bit floats. Initial weights are random and do not depend on data.
// Reference  [PTSCTE21] for tanh, [TB21] for the network.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace sotto::deep {

enum class NetworkKind { softmax, mlp, cnn };
enum class Activation { tanh, relu, sigmoid, leaky_relu, silu, gelu };

std::string_view name(NetworkKind kind);
NetworkKind parse_network(std::string_view text);  // throws InvalidArgument
std::string_view name(Activation activation);
Activation parse_activation(std::string_view text);  // throws InvalidArgument

// Public: from the schema or the format of the images, never from their content.
struct NetworkOptions {
  NetworkKind kind = NetworkKind::softmax;
  std::vector<std::int64_t> input;  // shape of one record: {features} or {channels, height, width}
  std::int64_t outputs = 2;         // classes, or 1 for a number
  std::vector<std::int64_t> hidden = {};  // mlp: widths; empty: {128}
  Activation activation = Activation::tanh;
};

nlohmann::ordered_json to_json(const NetworkOptions& options);
NetworkOptions network_from_json(const nlohmann::ordered_json& json);  // throws DataError

class NetworkImpl : public torch::nn::Module {
 public:
  explicit NetworkImpl(NetworkOptions options);  // throws InvalidArgument
  torch::Tensor forward(const torch::Tensor& input);
  const NetworkOptions& options() const { return options_; }

 private:
  NetworkOptions options_;
  torch::nn::Sequential layers_;
};
TORCH_MODULE(Network);

std::uint64_t count_parameters(const torch::nn::Module& model);

// The same network as a TorchScript program with its weights, for programs that know nothing of this library.
std::string to_torchscript(const Network& network);

}  // namespace sotto::deep
