#include "sotto/deep/layers/detail/linear.hpp"

#include <gtest/gtest.h>

#include "../micro_batch_reference_test.hpp"
#include "sotto/core/error.hpp"
#include "sotto/deep/detail/kernels.hpp"
#include "sotto/deep/losses.hpp"
#include "sotto/deep/refusal_test.hpp"

namespace sotto::deep::linear_test {

using torch::Tensor;

struct TwoLayersImpl : torch::nn::Module {
  TwoLayersImpl(std::int64_t in, std::int64_t hidden, std::int64_t out, bool bias = true)
      : first(torch::nn::LinearOptions(in, hidden).bias(bias)), second(hidden, out) {
    register_module("first", first);
    register_module("second", second);
  }
  Tensor forward(const Tensor& x) { return second->forward(torch::tanh(first->forward(x))); }
  Linear first, second;
};
TORCH_MODULE(TwoLayers);

TEST(Linear, ClippedSumEqualsMicroBatches) {
  torch::manual_seed(1);
  for (const auto& [records, in, hidden, out] : {std::array<std::int64_t, 4>{1, 3, 2, 2},
                                                 {7, 5, 4, 3},
                                                 {16, 33, 17, 10},
                                                 {1, 300, 4, 3},
                                                 {70, 300, 4, 3}}) {
    TwoLayers model(in, hidden, out);
    const auto x = torch::randn({records, in});
    const auto y = torch::randint(out, {records}, torch::kLong);
    expect_like_micro_batches(
        *model,
        [&](const Tensor& a, const Tensor& b) {
          return softmax_cross_entropy(model->forward(a), b);
        },
        x, y);
  }
}

TEST(Linear, AProductWithFewOutputsChangesNoParameterEvenForOneRecord) {
  torch::manual_seed(13);
  for (const std::int64_t records : {1, 65}) {
    TwoLayers model(300, 4, 3);
    const auto x = torch::randn({records, 300});
    const auto y = torch::randint(3, {records}, torch::kLong);
    const auto before = model->first->bias.detach().clone();
    const auto expected = softmax_cross_entropy(model->forward(x), y).detach();
    ClippedSum sum(*model, {.norm = 1});
    const auto losses =
        sum.add({x, y}, [&] { return softmax_cross_entropy(model->forward(x), y); });
    EXPECT_TRUE(torch::allclose(losses, expected, 1e-5, 1e-6));
    EXPECT_TRUE(torch::equal(model->first->bias, before));
  }
}

// With exact noise batches may have sizes in which a row gives the same bits. Parts of 64 rows and
// a rest that another kernel computes would leave few of them.
TEST(Linear, ARestOfRowsIsComputedLikeTheOthers) {
  torch::manual_seed(4);
  const auto x = torch::randn({256, 512}), w = torch::randn({32, 512}), bias = torch::randn({32});
  std::vector<double> squares;
  const auto all = linear_with_squares(x, w, bias, squares);
  EXPECT_TRUE(torch::allclose(all, torch::linear(x, w, bias), 1e-4, 1e-4));
  for (const std::int64_t rows : {65, 72, 96, 104, 127, 130, 200, 248}) {
    std::vector<double> own;
    const auto some = linear_with_squares(x.narrow(0, 0, rows), w, bias, own);
    EXPECT_TRUE(torch::equal(some, all.narrow(0, 0, rows))) << rows;
    EXPECT_TRUE(std::equal(own.begin(), own.end(), squares.begin())) << rows;
  }
}

TEST(Linear, SequencesGiveTheNormOfTheSummedBiasGradientAlsoWhenTiny) {
  torch::manual_seed(2);
  for (const double scale : {1.0, 1e-4}) {
    for (const std::int64_t length : {2, 9, 40}) {
      TwoLayers model(6, 5, 3);
      const auto x = torch::randn({5, length, 6});
      const auto y = torch::randn({5, length, 3});
      for (const Within within : {Within::sum, Within::mean}) {
        expect_like_micro_batches(
            *model,
            [&](const Tensor& a, const Tensor& b) {
              return scale * squared_loss(model->forward(a), b, within);
            },
            x, y, 1e-3);
      }
    }
  }
}

TEST(Linear, IgnoredTokensContributeNothing) {
  torch::manual_seed(3);
  TwoLayers model(4, 5, 3);
  const auto x = torch::randn({6, 7, 4});
  auto y = torch::randint(3, {6, 7}, torch::kLong);
  y.index_put_({torch::indexing::Slice(), torch::indexing::Slice(4)}, -1);
  y[2].fill_(-1);  // a record without any counted token
  for (const Within within : {Within::sum, Within::mean})
    expect_like_micro_batches(
        *model,
        [&](const Tensor& a, const Tensor& b) {
          return softmax_cross_entropy(model->forward(a), b, -1, within);
        },
        x, y);
}

struct TiedImpl : torch::nn::Module {
  TiedImpl() : layer(4, 4) { register_module("layer", layer); }
  Tensor forward(const Tensor& x) { return layer->forward(torch::tanh(layer->forward(x))); }
  Linear layer;
};
TORCH_MODULE(Tied);

TEST(Linear, SharedWeightsAreExact) {
  torch::manual_seed(4);
  Tied model;
  const auto x = torch::randn({9, 4}), y = torch::randn({9, 4});
  expect_like_micro_batches(
      *model, [&](const Tensor& a, const Tensor& b) { return squared_loss(model->forward(a), b); },
      x, y);
  const auto sequences = torch::randn({5, 3, 4}), targets = torch::randn({5, 3, 4});
  expect_like_micro_batches(
      *model, [&](const Tensor& a, const Tensor& b) { return squared_loss(model->forward(a), b); },
      sequences, targets);
}

TEST(ClippedSum, RecordsThatAreNotFiniteContributeZero) {
  torch::manual_seed(5);
  TwoLayers model(4, 5, 3);
  auto x = torch::randn({6, 4});
  const auto y = torch::randn({6, 3});
  ClippedSum clean(*model, {.norm = 0.5}), dirty(*model, {.norm = 0.5});
  const auto kept = torch::tensor({0, 1, 3, 5}, torch::kLong);
  const auto xs = x.index_select(0, kept), ys = y.index_select(0, kept);
  clean.add({xs, ys}, [&] { return squared_loss(model->forward(xs), ys); });
  x[2][1] = std::numeric_limits<float>::quiet_NaN();
  x[4][0] = std::numeric_limits<float>::infinity();
  dirty.add({x, y}, [&] { return squared_loss(model->forward(x), y); });
  EXPECT_TRUE(torch::allclose(clean.flat(), dirty.flat(), 1e-5, 1e-7));
  EXPECT_TRUE(std::isnan(x[2][1].item<float>())) << "the caller's batch was changed";
}

TEST(ClippedSum, AnEmptyBatchIsASumOfZeros) {
  TwoLayers model(4, 5, 3);
  ClippedSum sum(*model, {});
  const auto x = torch::randn({2, 4}), y = torch::randn({2, 3});
  sum.add({x, y}, [&] { return squared_loss(model->forward(x), y); });
  sum.clear();
  sum.add({x.narrow(0, 0, 0)},
          [&]() -> Tensor { throw std::logic_error("the model must not run"); });
  EXPECT_EQ(sum.flat().abs().sum().item<float>(), 0);
}

TEST(ClippedSum, PhysicalBatchesAddUpToTheLogicalOne) {
  torch::manual_seed(6);
  TwoLayers model(4, 5, 3);
  const auto x = torch::randn({10, 4}), y = torch::randn({10, 3});
  ClippedSum whole(*model, {.norm = 0.3}), parts(*model, {.norm = 0.3});
  whole.add({x, y}, [&] { return squared_loss(model->forward(x), y); });
  for (const auto& [first, count] : {std::pair{0, 3}, {3, 1}, {4, 6}}) {
    const auto xs = x.narrow(0, first, count), ys = y.narrow(0, first, count);
    parts.add({xs, ys}, [&] { return squared_loss(model->forward(xs), ys); });
  }
  EXPECT_TRUE(torch::allclose(whole.flat(), parts.flat(), 1e-5, 1e-6));
  EXPECT_EQ(parts.private_records(), 10);
}

TEST(ClippedSum, OneRecordMovesTheSumByAtMostTheSensitivity) {
  torch::manual_seed(7);
  for (const ClipRule rule : {ClipRule::flat, ClipRule::per_layer, ClipRule::normalised}) {
    for (const double norm : {0.02, 1.0, 50.0}) {
      TwoLayers model(8, 6, 3);
      const auto x = torch::randn({64, 8}) * 30, y = torch::randn({64, 3}) * 3000;
      ClippedSum all(*model, {.rule = rule, .norm = norm}),
          fewer(*model, {.rule = rule, .norm = norm});
      all.add({x, y}, [&] { return squared_loss(model->forward(x), y); });
      const auto xs = x.narrow(0, 0, 63), ys = y.narrow(0, 0, 63);
      fewer.add({xs, ys}, [&] { return squared_loss(model->forward(xs), ys); });
      const double moved = (all.flat() - fewer.flat()).norm().item<double>();
      EXPECT_LE(moved, all.sensitivity(Relation::add_remove));
      EXPECT_GT(moved, 0.9 * norm / 1.01) << "clipped records should use their allowance";
    }
  }
}

TEST(ClippedSum, RoundingIsFarBelowItsAllowance) {
  torch::manual_seed(8);
  TwoLayers model(50, 40, 10);
  for (const std::vector<std::int64_t>& shape :
       {std::vector<std::int64_t>{1000, 50}, {200, 30, 50}}) {
    const std::int64_t records = shape[0];
    const auto x = torch::randn(shape) * 3;
    auto outputs = shape;
    outputs.back() = 10;
    const auto y = torch::randn(outputs) * 30;
    const auto sum_of = [&](std::int64_t first, std::int64_t count) {
      ClippedSum sum(*model, {.norm = 1});
      const auto xs = x.narrow(0, first, count), ys = y.narrow(0, first, count);
      sum.add({xs, ys}, [&] { return squared_loss(model->forward(xs), ys); });
      return sum.flat().to(torch::kDouble);
    };
    // Exactly, the sums with and without the last record differ by the clipped gradient of that
    // record.
    const auto moved = sum_of(0, records) - sum_of(0, records - 1), own = sum_of(records - 1, 1);
    EXPECT_LT((moved - own).norm().item<double>(), 1e-4) << "a hundredth of kRoundingAllowance";
    EXPECT_GT(own.norm().item<double>(), 0.95);
  }
}

struct WithLooseParameterImpl : torch::nn::Module {
  WithLooseParameterImpl() : layer(3, 3) {
    register_module("layer", layer);
    scale = register_parameter("scale", torch::ones({3}));
    unused = register_parameter("unused", torch::ones({2}), false);
  }
  Tensor forward(const Tensor& x) { return layer->forward(x) * torch::exp(scale); }
  Linear layer;
  Tensor scale, unused;
};
TORCH_MODULE(WithLooseParameter);

TEST(ClippedSum, NamesParametersWithoutPerSampleGradient) {
  WithLooseParameter model;
  const auto x = torch::randn({4, 3}), y = torch::randn({4, 3});
  EXPECT_NE(
      refusal<Error>([&] {
        ClippedSum(*model, {}).add({x, y}, [&] { return squared_loss(model->forward(x), y); });
      }).find("parameter scale is used by an operation that is not a private layer"),
      std::string::npos);
  model->scale.requires_grad_(false);
  EXPECT_NO_THROW(
      ClippedSum(*model, {}).add({x, y}, [&] { return squared_loss(model->forward(x), y); }));
  model->unused.requires_grad_(true);
  EXPECT_NE(
      refusal<Error>([&] {
        ClippedSum(*model, {}).add({x, y}, [&] { return squared_loss(model->forward(x), y); });
      }).find("parameter unused received no per-sample gradient"),
      std::string::npos);
}

TEST(ClippedSum, RefusesLossesThatAreNotOnePerRecordAndInputsWithoutRecordAxis) {
  TwoLayers model(3, 4, 2);
  const auto x = torch::randn({4, 3}), y = torch::randn({4, 2});
  EXPECT_NE(refusal<Error>([&] {
              ClippedSum(*model, {}).add({x, y}, [&] { return (model->forward(x) - y).square(); });
            }).find("one loss for each of the 4 records"),
            std::string::npos);
  EXPECT_NE(refusal<Error>([&] {
              const auto more = torch::randn({8, 3});
              ClippedSum(*model, {}).add({more, x, y}, [&] {
                return squared_loss(model->forward(x), y);
              });
            }).find("8 and 4 records"),
            std::string::npos);
}

// The worked example of back-propagation: a linear network 2-2-1, one record, step 0.05.
TEST(ClippedSum, BackPropagationExample) {
  TwoLayers model(2, 2, 1, false);
  torch::nn::Sequential network(Linear(torch::nn::LinearOptions(2, 2).bias(false)),
                                Linear(torch::nn::LinearOptions(2, 1).bias(false)));
  torch::NoGradGuard no_grad;
  auto parameters = network->parameters();
  parameters[0].copy_(torch::tensor({{0.10f, 0.20f}, {0.05f, 0.15f}}));
  parameters[1].copy_(torch::tensor({{0.08f, 0.12f}}));
  const auto x = torch::tensor({{1.0f, 2.0f}}), y = torch::tensor({{1.0f}});
  EXPECT_NEAR(network->forward(x).item<float>(), 0.082, 5e-4);
  ClippedSum sum(*network, {.norm = 1e6});
  {
    torch::AutoGradMode grad(true);
    sum.add({x, y}, [&] { return squared_loss(network->forward(x), y); });
  }
  for (std::size_t k = 0; k < 2; ++k) parameters[k].add_(sum.sums()[k], -0.05);
  const auto first = torch::tensor({{0.104f, 0.207f}, {0.056f, 0.161f}}),
             second = torch::tensor({{0.103f, 0.136f}});
  EXPECT_TRUE(torch::allclose(parameters[0], first, 0, 6e-4)) << parameters[0];
  EXPECT_TRUE(torch::allclose(parameters[1], second, 0, 6e-4)) << parameters[1];
  EXPECT_NEAR(network->forward(x).item<float>(), 0.105, 6e-4);
}

// A model need not call a layer: products with a weight on either side, sums and products with
// vectors, scalars and channels are separated by record too.
TEST(PlainFormulas, AreLikeMicroBatches) {
  torch::manual_seed(39);
  struct Net : torch::nn::Module {
    Tensor w = register_parameter("w", torch::randn({3, 6})),
           b = register_parameter("b", torch::randn({3})),
           scale = register_parameter("scale", torch::ones({})),
           places = register_parameter("places", torch::randn({5, 6})),
           channels = register_parameter("channels", torch::rand({5, 1}));
  } net;
  const Tensor x = torch::randn({7, 5, 6}), y = torch::randint(3, {7}, torch::kLong);
  const auto with = [&](const std::function<Tensor(const Tensor&)>& scores) {
    expect_like_micro_batches(
        net,
        [&](const Tensor& a, const Tensor& c) {
          const Tensor z = net.channels * (a + net.places);
          return softmax_cross_entropy(scores(z) * net.scale + net.b, c);
        },
        x, y);
  };
  with([&](const Tensor& z) { return torch::matmul(net.w, z.mean(1).t()).t(); });
  with([&](const Tensor& z) { return torch::mm(net.w, z.mean(1).t()).t(); });
  with([&](const Tensor& z) { return z.mean(1).mm(net.w.t()); });
  with([&](const Tensor& z) { return torch::einsum("btf,cf->bc", {z, net.w}); });
  with([&](const Tensor& z) {
    return net.b + torch::einsum("btf,cf->btc", {z, net.w}).tanh().mean(1);
  });
}

}  // namespace sotto::deep::linear_test
