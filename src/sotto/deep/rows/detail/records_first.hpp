// Detail: a tensor with its records brought to the first axis, and the way back.
#pragma once

#include <torch/torch.h>

#include "sotto/deep/rows/axis.hpp"

namespace sotto::deep::rows {

// (…, outer·B·inner, …) to (B, …, outer, inner, …).
inline torch::Tensor records_first(const torch::Tensor& x, const Axis& axis, std::int64_t records) {
  std::vector<std::int64_t> sizes = x.sizes().vec();
  const auto at = sizes.begin() + axis.dim;
  *at = axis.inner;
  sizes.insert(at, {axis.outer, records});
  return x.reshape(sizes).movedim(axis.dim + 1, 0);
}

inline torch::Tensor as_before(const torch::Tensor& y, const Axis& axis) {
  return y.movedim(0, axis.dim + 1).flatten(axis.dim, axis.dim + 2);
}

}  // namespace sotto::deep::rows
