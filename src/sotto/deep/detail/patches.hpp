// Detail: the patches of a convolution, one record at a time: columns[channel, kernel
// offset][output position].
#pragma once

#include <torch/torch.h>

#include <array>
#include <cstdint>
#include <vector>

namespace sotto::deep {

struct Patches {
  Patches(const torch::Tensor& input, const torch::Tensor& weight, const torch::Tensor& output,
          const std::vector<std::int64_t>& stride, const std::vector<std::int64_t>& padding,
          const std::vector<std::int64_t>& dilation, std::int64_t groups);

  // Floats that lay_out writes: groups·patch × positions.
  std::size_t buffer() const { return static_cast<std::size_t>(groups * patch * positions); }
  void lay_out(std::int64_t record, float* columns) const;

  std::int64_t records, groups;
  std::int64_t patch;      // of one group: channels·kernel
  std::int64_t outputs;    // of one group
  std::int64_t positions;  // of the output

 private:
  using Three = std::array<std::int64_t, 3>;  // depth, height, width; missing ones are 1
  const float* data_;
  std::int64_t channels_;
  Three in_, out_, kernel_, stride_, padding_, dilation_;
};

}  // namespace sotto::deep
