// Max pooling of images, for the passes of private training.
//
// What       max_pool2d(input, kernel, stride): the largest number under each window, as
//            torch::max_pool2d without padding gives it, bit for bit, and with the same derivative;
//            several times as fast. can_pool() says for which tensors; LibTorch has the others.
// Guarantee  None by itself: it has no parameters, and a plane of a record goes to that plane.
// Method     Windows side by side in vectors; the place of the largest in 32 bits.
// Numerics   Comparisons only; the derivative adds in LibTorch's order.
#pragma once

#include <torch/torch.h>

namespace sotto::deep {

bool can_pool(const torch::Tensor& input, at::IntArrayRef kernel, at::IntArrayRef stride,
              at::IntArrayRef padding, at::IntArrayRef dilation, bool ceil_mode);
// input: (records, channels, height, width), records on the first axis.
torch::Tensor max_pool2d(const torch::Tensor& input, at::IntArrayRef kernel,
                         at::IntArrayRef stride);

}  // namespace sotto::deep
