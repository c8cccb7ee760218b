// Interception: ordinary torch::nn layers take the private path while a Recorder is current.
//
// What       Inside a Recorder::Scope, calls of torch's linear (also as addmm, matmul and +=, as
//            torch::nn::Linear writes it), conv1d/2d/3d, embedding, layer_norm, group_norm,
//            instance_norm, rnn, lstm and gru with trainable weights go to the private functions of
//            layers/*.hpp, and max_pool2d to one that is faster. So torch::nn modules, Sequentials
//            of them and modules of your own work as they are, with their own parameters.
//            batch_norm on batch statistics and embeddings with max_norm are refused on the spot.
// Guarantee  None by itself. An operation that is not in the list leaves an ordinary gradient,
//            which Recorder::finish refuses by name.
// Method     Kernels registered for a dispatch key of LibTorch that nothing else uses; the key is
//            active on this thread while the scope lives, and costs nothing outside of it.
// Numerics   As the layers.
// Reference  docs/adr/0009-deep-engine.md.
#pragma once

#include <memory>

namespace sotto::deep {

// Alive: interception on this thread.
class Interception {
 public:
  Interception();
  ~Interception();

 private:
  struct Guard;
  std::unique_ptr<Guard> guard_;
};

// Alive: dropout does nothing on this thread, in layers and as a function. It draws differently for
// each batch, so records can only be compared without it.
class WithoutDropout {
 public:
  WithoutDropout();
  ~WithoutDropout();
  WithoutDropout(const WithoutDropout&) = delete;
  WithoutDropout& operator=(const WithoutDropout&) = delete;

 private:
  Interception interception_;
  bool outer_;
};

}  // namespace sotto::deep
