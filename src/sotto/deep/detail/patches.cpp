#include "sotto/deep/detail/patches.hpp"

#include <algorithm>

namespace sotto::deep {
namespace {

// The last entries are the last dimensions; those that are not there get `missing`.
template <class Sizes>
std::array<std::int64_t, 3> three(const Sizes& sizes, std::int64_t missing) {
  std::array<std::int64_t, 3> result{missing, missing, missing};
  for (std::size_t k = 0; k < sizes.size(); ++k) result[3 - sizes.size() + k] = sizes[k];
  return result;
}

// One row of outputs: from[first + k·stride] for k < count, zero where that is outside of [0,
// size).
void copy_row(const float* from, std::int64_t size, std::int64_t first, std::int64_t stride,
              std::int64_t count, float* to) {
  if (stride == 1) {
    const std::int64_t begin = std::clamp<std::int64_t>(-first, 0, count);
    const std::int64_t end = std::clamp<std::int64_t>(size - first, begin, count);
    std::fill(to, to + begin, 0.0f);
    std::copy(from + first + begin, from + first + end, to + begin);
    std::fill(to + end, to + count, 0.0f);
    return;
  }
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t at = first + k * stride;
    to[k] = at >= 0 && at < size ? from[at] : 0;
  }
}

}  // namespace

Patches::Patches(const torch::Tensor& input, const torch::Tensor& weight,
                 const torch::Tensor& output, const std::vector<std::int64_t>& stride,
                 const std::vector<std::int64_t>& padding,
                 const std::vector<std::int64_t>& dilation, std::int64_t groups_)
    : records(input.size(0)),
      groups(groups_),
      outputs(output.size(1) / groups_),
      data_(input.data_ptr<float>()),
      channels_(input.size(1)),
      in_(three(input.sizes().slice(2), 1)),
      out_(three(output.sizes().slice(2), 1)),
      kernel_(three(weight.sizes().slice(2), 1)),
      stride_(three(stride, 1)),
      padding_(three(padding, 0)),
      dilation_(three(dilation, 1)) {
  patch = channels_ / groups * kernel_[0] * kernel_[1] * kernel_[2];
  positions = out_[0] * out_[1] * out_[2];
}

void Patches::lay_out(std::int64_t record, float* columns) const {
  const std::int64_t plane = in_[1] * in_[2], volume = in_[0] * plane;
  const float* image = data_ + record * channels_ * volume;
  for (std::int64_t c = 0; c < channels_; ++c)
    for (std::int64_t kd = 0; kd < kernel_[0]; ++kd)
      for (std::int64_t kh = 0; kh < kernel_[1]; ++kh)
        for (std::int64_t kw = 0; kw < kernel_[2]; ++kw)
          for (std::int64_t od = 0; od < out_[0]; ++od) {
            const std::int64_t d = od * stride_[0] - padding_[0] + kd * dilation_[0];
            for (std::int64_t oh = 0; oh < out_[1]; ++oh, columns += out_[2]) {
              const std::int64_t h = oh * stride_[1] - padding_[1] + kh * dilation_[1];
              if (d < 0 || d >= in_[0] || h < 0 || h >= in_[1]) {
                std::fill(columns, columns + out_[2], 0.0f);
                continue;
              }
              copy_row(image + c * volume + d * plane + h * in_[2], in_[2],
                       kw * dilation_[2] - padding_[2], stride_[2], out_[2], columns);
            }
          }
}

}  // namespace sotto::deep
