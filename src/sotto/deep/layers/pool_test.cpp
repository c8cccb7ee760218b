#include "sotto/deep/layers/detail/pool.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "../micro_batch_reference_test.hpp"
#include "sotto/deep/detail/layer_call.hpp"
#include "sotto/deep/losses.hpp"
#include "sotto/deep/training/detail/memory.hpp"

namespace sotto::deep::pool_test {

using torch::Tensor;
namespace nn = torch::nn;

struct Pooling {
  std::vector<std::int64_t> kernel, stride;
};

struct Pooled {
  Tensor value, gradient;
  bool by_us;
};

Pooled pooled(const Tensor& x, const Pooling& how, const Tensor& gradient) {
  const Tensor leaf = x.detach().requires_grad_(true);
  const Tensor value = torch::max_pool2d(leaf, how.kernel, how.stride);
  const bool by_us = is_private_layer(*value.grad_fn());
  value.backward(gradient);
  return {value.detach(), leaf.grad(), by_us};
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.sizes() == b.sizes() &&
         std::memcmp(a.contiguous().data_ptr(), b.contiguous().data_ptr(), a.nbytes()) == 0;
}

// Numbers that occur several times, zeros of both signs, infinities and NaN.
Tensor awkward(std::vector<std::int64_t> sizes, bool with_nan) {
  Tensor x = torch::randn(sizes).mul_(4).round_().div_(4);
  const auto at = torch::rand(sizes);
  x.masked_fill_(at.lt(0.1), -0.0);
  x.masked_fill_(at.ge(0.1).logical_and_(at.lt(0.3)), -std::numeric_limits<float>::infinity());
  x.masked_fill_(at.gt(0.97), std::numeric_limits<float>::infinity());
  if (with_nan)
    x.masked_fill_(at.gt(0.8).logical_and_(at.lt(0.9)), std::numeric_limits<float>::quiet_NaN());
  return x;
}

TEST(MaxPool, GivesTheBitsOfLibTorch) {
  torch::manual_seed(3);
  nn::Linear other(1, 1);
  const auto parameters = trainable_parameters(*other);
  const std::vector<Pooling> all = {{{2, 2}, {1, 1}}, {{2, 2}, {2, 2}}, {{2}, {}},
                                    {{3, 3}, {1, 1}}, {{3, 2}, {2, 1}}, {{1, 4}, {3, 2}},
                                    {{3, 3}, {2, 2}}, {{5, 5}, {4, 3}}, {{7, 9}, {1, 1}}};
  for (const Pooling& how : all)
    for (const auto& [high, wide] : {std::pair{7, 9}, {14, 14}, {8, 33}}) {
      for (const bool with_nan : {false, true}) {
        const Tensor x = awkward({3, 2, high, wide}, with_nan);
        const Tensor b = torch::randn_like(torch::max_pool2d(x, how.kernel, how.stride));
        const Pooled plain = pooled(x, how, b);
        Recorder recorder(parameters, 3, {.memory = 1 << 20});
        const Recorder::Scope scope(recorder);
        const Pooled own = pooled(x, how, b);
        EXPECT_TRUE(own.by_us && !plain.by_us);
        EXPECT_TRUE(same_bits(own.value, plain.value)) << high << "×" << wide;
        EXPECT_TRUE(same_bits(own.gradient, plain.gradient)) << high << "×" << wide;
      }
    }
}

// A step's memory is measured (training/detail/memory.hpp): what pooling keeps must be in it.
TEST(MaxPool, ThePlacesAreInTheMeasuredMemory) {
  const Tensor x = torch::randn({2, 4, 64, 64}).requires_grad_(true);
  Recorder recorder({}, 2, {.memory = 1 << 20});
  const Recorder::Scope scope(recorder);
  Tensor value;
  const std::size_t peak = peak_memory([&] { value = torch::max_pool2d(x, {2, 2}, {1, 1}); });
  ASSERT_TRUE(is_private_layer(*value.grad_fn()));
  EXPECT_GE(peak, value.nbytes() + static_cast<std::size_t>(value.numel()) * sizeof(std::int32_t));
}

TEST(MaxPool, LeavesOtherPoolsToLibTorch) {
  const Tensor x = torch::randn({2, 3, 6, 6});
  const std::vector<std::int64_t> none{0, 0}, one{1, 1}, two{2, 2};
  EXPECT_TRUE(can_pool(x, two, two, none, one, false));
  EXPECT_FALSE(can_pool(x, two, two, one, one, false));
  EXPECT_FALSE(can_pool(x, two, two, none, two, false));
  EXPECT_FALSE(can_pool(x, two, two, none, one, true));
  EXPECT_FALSE(can_pool(x, {7, 7}, two, none, one, false));
  EXPECT_FALSE(can_pool(x.transpose(2, 3), two, two, none, one, false));
  EXPECT_FALSE(can_pool(x.to(torch::kDouble), two, two, none, one, false));
  EXPECT_FALSE(can_pool(x[0], two, two, none, one, false));
}

TEST(MaxPool, GradientsOfRecordsAreThoseOfOneRecordAlone) {
  torch::manual_seed(4);
  nn::Sequential model(nn::Conv2d(nn::Conv2dOptions(2, 4, 3)), nn::Tanh(),
                       nn::MaxPool2d(nn::MaxPool2dOptions(2).stride(1)),
                       nn::Conv2d(nn::Conv2dOptions(4, 5, 2)), nn::ReLU(), nn::MaxPool2d(2),
                       nn::Flatten(), nn::Linear(20, 3));
  expect_like_micro_batches(
      *model, [&](const Tensor& a, const Tensor& b) { return squared_loss(model->forward(a), b); },
      torch::randn({6, 2, 8, 8}), torch::randn({6, 3}));
}

}  // namespace sotto::deep::pool_test
