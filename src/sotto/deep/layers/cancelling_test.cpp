// Records whose terms cancel: their gradient is small, the terms behind it are huge, and 32-bit
// sums of terms would round others away.
#include <gtest/gtest.h>

#include "sotto/deep/clipped_sum.hpp"
#include "sotto/deep/losses.hpp"

namespace sotto::deep::cancelling_test {

constexpr double kClip = 1;

// How far one record more moves the clipped sum. The last one is the attacker's.
template <class Model>
double moved(Model& model, const torch::Tensor& x, const torch::Tensor& y, std::size_t memory) {
  const auto sum_of = [&](std::int64_t records) {
    ClippedSum sum(*model, {.norm = kClip, .memory = memory});
    const auto xs = x.narrow(0, 0, records), ys = y.narrow(0, 0, records);
    sum.add({xs, ys}, [&] { return squared_loss(model->forward(xs), ys, Within::sum); });
    return sum.flat().to(torch::kDouble);
  };
  const torch::Tensor distance = sum_of(x.size(0)) - sum_of(x.size(0) - 1);
  return distance.norm().item<double>();
}

TEST(CancellingTerms, OfALinearLayerMoveTheSumByLittleMoreThanTheClipNorm) {
  constexpr std::int64_t kOthers = 200, kTerms = 12, kWidth = 20;
  for (const std::size_t memory : {std::size_t{1} << 10, std::size_t{1} << 30}) {
    torch::manual_seed(1);
    torch::nn::Linear model(kWidth, kWidth);
    auto x = torch::randn({kOthers + 1, kTerms, kWidth});
    auto y = torch::randn({kOthers + 1, kTerms, kWidth});
    x[kOthers].copy_(torch::ones({kTerms, kWidth}));
    for (std::int64_t t = 0; t < kTerms; ++t) y[kOthers][t].fill_(t % 2 == 0 ? 1e8 : -1e8);
    const double distance = moved(model, x, y, memory);
    EXPECT_LT(distance, 1.1 * kClip) << memory;
  }
}

TEST(CancellingTerms, OfAConvolutionMoveTheSumByLittleMoreThanTheClipNorm) {
  constexpr std::int64_t kOthers = 100;
  for (const std::size_t memory : {std::size_t{1} << 10, std::size_t{1} << 30}) {
    torch::manual_seed(2);
    torch::nn::Conv1d model(torch::nn::Conv1dOptions(16, 16, 1).bias(false));
    auto x = torch::randn({kOthers + 1, 16, 10}), y = torch::randn({kOthers + 1, 16, 10});
    x[kOthers].fill_(1);
    for (std::int64_t t = 0; t < 10; ++t) y[kOthers].select(1, t).fill_(t % 2 == 0 ? 1e8 : -1e8);
    const double distance = moved(model, x, y, memory);
    EXPECT_LT(distance, 1.1 * kClip) << memory;
  }
}

TEST(CancellingTerms, OfOneTokenMoveTheSumByLittleMoreThanTheClipNorm) {
  constexpr std::int64_t kOthers = 200;
  torch::manual_seed(3);
  torch::nn::Embedding model(10, 8);
  const auto tokens = torch::full({kOthers + 1, 2}, 5, torch::kLong);
  auto y = torch::randn({kOthers + 1, 2, 8});
  y[kOthers][0].fill_(1e8);
  y[kOthers][1].fill_(-1e8);
  const double distance = moved(model, tokens, y, 1 << 20);
  EXPECT_LT(distance, 1.1 * kClip);
}

TEST(VanishingProducts, DoNotHideAGradientFromItsGhostNorm) {
  torch::manual_seed(4);
  constexpr std::int64_t kTerms = 40, kInputs = 20000, kOutputs = 100;
  torch::nn::Linear model(torch::nn::LinearOptions(kInputs, kOutputs).bias(false));
  const auto x = torch::full({1, kTerms, kInputs}, 2e-23f);
  const auto y = torch::full({1, kTerms, kOutputs}, -1.5e18f);
  ClippedSum sum(*model, {.norm = 0.1, .memory = 1 << 10});
  sum.add({x, y}, [&] { return squared_loss(model->forward(x), y, Within::sum); });
  EXPECT_LE(sum.flat().to(torch::kDouble).norm().item<double>(), 0.1);
}

}  // namespace sotto::deep::cancelling_test
