// Interception lives on internals of LibTorch: what if a version renames an operation, or sends a
// layer another way?
#include "sotto/deep/intercept.hpp"

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <gtest/gtest.h>

#include "sotto/core/error.hpp"
#include "sotto/deep/clipped_sum.hpp"

namespace sotto::deep::intercept_test {

using torch::Tensor;
namespace nn = torch::nn;

constexpr auto kKey = c10::DispatchKey::TESTING_ONLY_GenericWrapper;  // as in intercept.cpp

TEST(Interception, CostsNothingOutsideOfARecording) {
  nn::Linear layer(3, 2);
  const auto x = torch::randn({4, 3});
  layer(x).sum().backward();
  EXPECT_TRUE(layer->weight.grad().defined()) << "ordinary training goes on as ever";
}

TEST(Interception, EveryOperationItNamesExists) {
  // Kernels for operations that nobody defined; LibTorch has some of its own.
  for (const auto& operation : c10::Dispatcher::singleton().findDanglingImpls())
    EXPECT_FALSE(operation.hasKernelForDispatchKey(kKey)) << operation.operator_name();
}

// What becomes of a batch of two records whose layer is called past the interception.
template <class Layer>
std::string without_interception(Layer layer, const Tensor& x) {
  ClippedSum sum(*layer, {});
  try {
    sum.add({x}, [&] {
      const c10::impl::ExcludeDispatchKeyGuard past(kKey);
      const auto out = layer->forward(x);
      if constexpr (std::is_same_v<std::decay_t<decltype(out)>, Tensor>)
        return out.flatten(1).sum(1);
      else
        return std::get<0>(out).flatten(1).sum(1);
    });
  } catch (const Unsupported& e) {
    return e.what();
  }
  return "nothing was thrown";
}

TEST(Interception, ALayerThatSlipsThroughIsRefusedByName) {
  torch::manual_seed(36);
  const auto row = torch::randn({2, 4}), sequence = torch::randn({2, 5, 4});
  const auto tokens = torch::randint(7, {2, 5}, torch::kLong);
  const std::pair<const char*, std::string> outcomes[] = {
      {"linear", without_interception(nn::Linear(4, 3), row)},
      {"linear on sequences", without_interception(nn::Linear(4, 3), sequence)},
      {"conv1d", without_interception(nn::Conv1d(nn::Conv1dOptions(5, 3, 2)), sequence)},
      {"conv2d", without_interception(nn::Conv2d(nn::Conv2dOptions(1, 3, 2).padding(torch::kSame)),
                                      sequence.unsqueeze(1))},
      {"conv3d", without_interception(nn::Conv3d(nn::Conv3dOptions(1, 2, 1)),
                                      sequence.unsqueeze(1).unsqueeze(1))},
      {"embedding", without_interception(nn::Embedding(7, 3), tokens)},
      {"layer_norm", without_interception(nn::LayerNorm(nn::LayerNormOptions({4})), row)},
      {"group_norm", without_interception(nn::GroupNorm(2, 4), row)},
      {"instance_norm",
       without_interception(nn::InstanceNorm1d(nn::InstanceNorm1dOptions(5).affine(true)),
                            sequence)},
      {"rnn", without_interception(nn::RNN(nn::RNNOptions(4, 3).batch_first(true)), sequence)},
      {"lstm", without_interception(nn::LSTM(nn::LSTMOptions(4, 3).batch_first(true)), sequence)},
      {"gru", without_interception(nn::GRU(nn::GRUOptions(4, 3).batch_first(true)), sequence)},
  };
  for (const auto& [layer, message] : outcomes)
    EXPECT_NE(message.find("is used by an operation that is not a private layer"),
              std::string::npos)
        << layer << ": " << message;
}

}  // namespace sotto::deep::intercept_test
