// Networks: the first shelf of models, described by public facts.
//
// What       softmax: one linear map to the classes. mlp: dense layers with an activation between
//            them. cnn: the small convolutional network with tanh of the literature on private
//            training: 8×8 stride 2, pooling, 4×4 stride 2, pooling, 32 hidden units (26 010
//            parameters on 28×28 images). sequence: the value at each place of a row of values,
//            from those before it: each of `context` values as 16 numbers, then dense layers.
// Guarantee  None by itself; records do not meet in any layer.
// Method     Ordinary torch::nn layers; inside ClippedSum they report the gradient of every record
//            (intercept.hpp).
// Numerics   32-bit floats. Initial weights are random and do not depend on data.
// Reference  [PTSCTE21] for tanh, [TB21] for the convolutional network, [BDVJ03] for the sequence.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <string>

#include "sotto/deep/models/network_options.hpp"

namespace sotto::deep {

class NetworkImpl : public torch::nn::Module {
 public:
  explicit NetworkImpl(NetworkOptions options);  // throws InvalidArgument
  // (B, input…) to (B, outputs); a sequence (B, places) of int64 to (B, places, outputs).
  torch::Tensor forward(const torch::Tensor& input);
  const NetworkOptions& options() const { return options_; }

 private:
  NetworkOptions options_;
  torch::nn::Sequential layers_;
  torch::nn::Embedding values_ = nullptr;  // of a sequence
};
TORCH_MODULE(Network);

std::uint64_t count_parameters(const torch::nn::Module& model);

// The same network as a TorchScript program with its weights, for programs that know nothing of
// this library.
std::string to_torchscript(const Network& network);

}  // namespace sotto::deep
