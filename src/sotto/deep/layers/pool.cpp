#include "sotto/deep/layers/detail/pool.hpp"

#include <algorithm>
#include <limits>

#include "sotto/deep/detail/kernels.hpp"
#include "sotto/deep/detail/layer_call.hpp"
#include "sotto/deep/detail/pool_loops.hpp"

namespace sotto::deep {
namespace {

bool all_equal(at::IntArrayRef values, std::int64_t wanted) {
  return std::all_of(values.begin(), values.end(), [&](std::int64_t v) { return v == wanted; });
}

// One number stands for both.
std::int64_t entry(at::IntArrayRef values, std::size_t k) {
  return values[values.size() > k ? k : 0];
}

PoolShape shape_of(const torch::Tensor& input, at::IntArrayRef kernel, at::IntArrayRef stride) {
  const at::IntArrayRef step = stride.empty() ? kernel : stride;
  return {input.size(2),    input.size(3),  entry(kernel, 0),
          entry(kernel, 1), entry(step, 0), entry(step, 1)};
}

class PoolCall : public LayerCall {
 public:
  PoolCall(const torch::Tensor& input, const PoolShape& shape)
      : LayerCall("max_pool2d"),
        input_(input.detach()),
        shape_(shape),
        planes_(input.size(0) * input.size(1)) {}

  Tensors run() override {
    const std::int64_t out = shape_.out_height() * shape_.out_width();
    auto result =
        torch::empty({input_.size(0), input_.size(1), shape_.out_height(), shape_.out_width()},
                     input_.options());
    where_ = torch::empty({planes_ * out}, torch::kInt);
    const float* const from = input_.data_ptr<float>();
    float* const to = result.data_ptr<float>();
    auto* const where = where_.data_ptr<std::int32_t>();
    for_records(planes_, [&](std::int64_t first, std::int64_t last) {
      PoolScratch scratch(shape_);
      for (std::int64_t k = first; k < last; ++k)
        largest_of_windows(shape_, from + k * plane(), scratch, to + k * out, where + k * out);
    });
    sizes_ = input_.sizes().vec();
    input_ = torch::Tensor();
    return {result};
  }

  Tensors back(const Tensors& gradients) override {
    const auto b = gradients[0].contiguous();
    auto result = torch::empty(sizes_, b.options());
    const std::int64_t out = shape_.out_height() * shape_.out_width();
    const float* const from = b.data_ptr<float>();
    float* const to = result.data_ptr<float>();
    const auto* const where = where_.data_ptr<std::int32_t>();
    for_records(planes_, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t k = first; k < last; ++k)
        spread_to_windows(shape_, from + k * out, where + k * out, to + k * plane());
    });
    return {result};
  }

 private:
  std::int64_t plane() const { return shape_.height * shape_.width; }

  torch::Tensor input_;
  PoolShape shape_;
  std::int64_t planes_;
  std::vector<std::int64_t> sizes_;
  torch::Tensor where_;  // a tensor: the memory of a step is measured by LibTorch's allocations
};

}  // namespace

bool can_pool(const torch::Tensor& input, at::IntArrayRef kernel, at::IntArrayRef stride,
              at::IntArrayRef padding, at::IntArrayRef dilation, bool ceil_mode) {
  if (input.dim() != 4 || input.scalar_type() != torch::kFloat || !input.device().is_cpu() ||
      !input.is_contiguous() || input.numel() == 0)
    return false;
  if (ceil_mode || !all_equal(padding, 0) || !all_equal(dilation, 1)) return false;
  // Others are refused by LibTorch, which may say so.
  if (kernel.empty() ||
      std::max({kernel.size(), stride.size(), padding.size(), dilation.size()}) > 2)
    return false;
  const PoolShape s = shape_of(input, kernel, stride);
  return s.kernel_height >= 1 && s.kernel_width >= 1 && s.down >= 1 && s.across >= 1 &&
         s.kernel_height <= s.height && s.kernel_width <= s.width &&
         s.height * s.width <= std::numeric_limits<std::int32_t>::max();
}

torch::Tensor max_pool2d(const torch::Tensor& input, at::IntArrayRef kernel,
                         at::IntArrayRef stride) {
  return apply_call(c10::make_intrusive<PoolCall>(input, shape_of(input, kernel, stride)), {input},
                    {})[0];
}

}  // namespace sotto::deep
