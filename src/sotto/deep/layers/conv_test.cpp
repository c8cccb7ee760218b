#include "sotto/deep/layers/detail/conv.hpp"

#include <gtest/gtest.h>

#include "../micro_batch_reference_test.hpp"
#include "sotto/deep/losses.hpp"

namespace sotto::deep::conv_test {

using torch::Tensor;
namespace nn = torch::nn;

void expect_convolution(nn::Sequential model, const Tensor& x) {
  torch::manual_seed(11);
  Tensor y;
  {
    torch::NoGradGuard no_grad;
    y = torch::randn_like(model->forward(x));
  }
  expect_like_micro_batches(
      *model, [&](const Tensor& a, const Tensor& b) { return squared_loss(model->forward(a), b); },
      x, y);
}

TEST(Conv, TwoDimensionsWithStridePaddingDilationAndGroups) {
  torch::manual_seed(10);
  expect_convolution(
      nn::Sequential(nn::Conv2d(nn::Conv2dOptions(3, 4, 3).padding(1)), nn::Tanh(),
                     nn::Conv2d(nn::Conv2dOptions(4, 6, {2, 3}).stride({2, 1}).groups(2))),
      torch::randn({5, 3, 7, 6}));
  expect_convolution(
      nn::Sequential(nn::Conv2d(nn::Conv2dOptions(4, 4, 3).groups(4).dilation(2).padding({2, 1})),
                     nn::Tanh(), nn::Conv2d(nn::Conv2dOptions(4, 8, 1).bias(false))),
      torch::randn({3, 4, 9, 9}));
}

TEST(Conv, OneAndThreeDimensions) {
  torch::manual_seed(12);
  expect_convolution(
      nn::Sequential(nn::Conv1d(nn::Conv1dOptions(2, 4, 5).stride(2).padding(3)), nn::Tanh(),
                     nn::Conv1d(nn::Conv1dOptions(4, 2, 3).groups(2).dilation(2))),
      torch::randn({6, 2, 21}));
  expect_convolution(
      nn::Sequential(
          nn::Conv3d(nn::Conv3dOptions(2, 2, {2, 3, 2}).padding({1, 0, 1}).stride({1, 2, 1})),
          nn::Tanh(), nn::Conv3d(nn::Conv3dOptions(2, 3, 2))),
      torch::randn({4, 2, 4, 7, 5}));
}

TEST(Conv, SamePaddingAlsoWhenItIsOdd) {
  torch::manual_seed(13);
  expect_convolution(
      nn::Sequential(nn::Conv2d(nn::Conv2dOptions(2, 3, 4).padding(torch::kSame)), nn::ReLU(),
                     nn::Conv2d(nn::Conv2dOptions(3, 3, 3).padding(torch::kSame).dilation(2))),
      torch::randn({3, 2, 6, 5}));
}

TEST(Conv, PoolingReshapingAndResidualSumsAreFree) {
  torch::manual_seed(14);
  struct NetImpl : nn::Module {
    NetImpl()
        : a(nn::Conv2dOptions(1, 4, 3).padding(1)),
          b(nn::Conv2dOptions(4, 4, 3).padding(1)),
          fc(4 * 3 * 3, 5) {
      register_module("a", a);
      register_module("b", b);
      register_module("fc", fc);
    }
    Tensor forward(const Tensor& x) {
      auto h = torch::max_pool2d(torch::gelu(a(x)), 2);
      h = torch::silu(h + b(h));
      return fc(h.flatten(1));
    }
    nn::Conv2d a, b;
    nn::Linear fc;
  };
  NetImpl net;
  const auto x = torch::randn({6, 1, 6, 6});
  const auto y = torch::randint(5, {6}, torch::kLong);
  expect_like_micro_batches(
      net,
      [&](const Tensor& u, const Tensor& v) { return softmax_cross_entropy(net.forward(u), v); }, x,
      y);
}

TEST(Conv, OneRecordThatIsNotANumberIsLeftOut) {
  torch::manual_seed(15);
  nn::Sequential model(nn::Conv2d(nn::Conv2dOptions(1, 2, 3)), nn::Flatten(),
                       nn::Linear(2 * 4 * 4, 3));
  auto x = torch::randn({5, 1, 6, 6});
  const auto y = torch::randn({5, 3});
  for (const std::size_t memory : {std::size_t{0}, std::size_t{1} << 30}) {
    ClippedSum clean(*model, {.memory = memory}), dirty(*model, {.memory = memory});
    const auto x4 = x.narrow(0, 0, 4), y4 = y.narrow(0, 0, 4);
    clean.add({x4, y4}, [&] { return squared_loss(model->forward(x4), y4); });
    auto bad = x.clone();
    bad[4][0][2][2] = std::numeric_limits<float>::quiet_NaN();
    dirty.add({bad, y}, [&] { return squared_loss(model->forward(bad), y); });
    EXPECT_TRUE(torch::allclose(clean.flat(), dirty.flat(), 1e-5, 1e-6));
  }
}

}  // namespace sotto::deep::conv_test
