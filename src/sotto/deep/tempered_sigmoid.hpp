// Tempered sigmoids: a family of bounded activations for private training; tanh is one of them.
//
// What       s·σ(T·x) − o: scale s, inverse temperature T, offset o. The default (2, 2, 1) is tanh.
// Guarantee  None; pointwise, so records do not meet. Bounded activations keep gradients short, and
//            clipping then distorts less.
// Method     Ordinary LibTorch operations.
// Numerics   32-bit floats.
// Reference  [PTSCTE21].
#pragma once

#include <torch/torch.h>

namespace sotto::deep {

struct Tempering {
  double scale = 2, inverse_temperature = 2, offset = 1;
};

inline torch::Tensor tempered_sigmoid(const torch::Tensor& x, const Tempering& t = {}) {
  return t.scale * torch::sigmoid(t.inverse_temperature * x) - t.offset;
}

}  // namespace sotto::deep
