// LayerCall: one application of a private layer, as one node of the autograd graph.
//
// What       A layer derives a call from this class: run() makes the output, back() gives the
//            gradients of the inputs and hands a
//            GradientTerm (gradient_term.hpp) for each trained parameter to the recorder.
//            Parameters take part in the graph only so that the node is reached; their ordinary
//            gradient is never formed.
// Method     One torch::autograd::Function holds the call; tensors a call saves are freed as soon
//            as back() is done with them.
#pragma once

#include <torch/torch.h>

#include <string>
#include <vector>

#include "sotto/deep/recorder.hpp"

namespace sotto::deep {

using Tensors = std::vector<torch::Tensor>;

class LayerCall : public torch::CustomClassHolder {
 public:
  explicit LayerCall(std::string layer)
      : recorder_(Recorder::current()), layer_(std::move(layer)) {}

  virtual Tensors run() = 0;
  // gradients: of every output, defined (zeros where nothing arrived). Result: one for every input
  // given to apply_call.
  virtual Tensors back(const Tensors& gradients) = 0;
  // Which axis of the inputs and of the outputs counts the records.
  virtual int input_axis(std::size_t) const { return 0; }
  virtual int output_axis(std::size_t) const { return 0; }

  Recorder& recorder() const { return *recorder_; }
  const std::string& layer() const { return layer_; }

 private:
  Recorder* recorder_;
  std::string layer_;
};

// Puts the call into the graph: inputs are differentiated by back(), parameters are recorded. The
// outputs are rows of records from then on, also where the inputs are public, since what comes back
// to row i must come from record i alone.
Tensors apply_call(const c10::intrusive_ptr<LayerCall>& call, const Tensors& inputs,
                   const Tensors& parameters);

// Whether a node of the graph is one of these calls.
bool is_private_layer(const torch::autograd::Node& node);

// An input that a call keeps for its backward pass; notices when it was changed in between.
class Saved {
 public:
  Saved() = default;
  explicit Saved(const torch::Tensor& tensor)
      : tensor_(tensor.detach()), version_(tensor_._version()) {}
  const torch::Tensor& get(const std::string& layer) const;
  torch::Tensor release(const std::string& layer);

 private:
  torch::Tensor tensor_;
  std::int64_t version_ = 0;
};

}  // namespace sotto::deep
