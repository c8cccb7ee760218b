// Detail: the patches of a convolution, one record at a time: columns[channel, kernel
// offset][output position].
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <vector>

#include "sotto/deep/detail/patch_loops.hpp"

namespace sotto::deep {

struct Patches {
  Patches(const torch::Tensor& input, const torch::Tensor& weight, const torch::Tensor& output,
          const std::vector<std::int64_t>& stride, const std::vector<std::int64_t>& padding,
          const std::vector<std::int64_t>& dilation, std::int64_t groups);

  // Floats that lay_out needs: groups·patch × positions for the columns, and room to work.
  std::size_t buffer() const { return static_cast<std::size_t>(shape_.columns() + shape_.split()); }
  void lay_out(std::int64_t record, float* columns) const;

  std::int64_t records, groups;
  std::int64_t patch;      // of one group: channels·kernel
  std::int64_t outputs;    // of one group
  std::int64_t positions;  // of the output

 private:
  const float* data_;
  PatchShape shape_;
};

}  // namespace sotto::deep
