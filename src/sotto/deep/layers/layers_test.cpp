// Embeddings, normalisation, recurrent layers, attention, loose parameters: each against one record
// at a time.
#include <gtest/gtest.h>

#include "../micro_batch_reference_test.hpp"
#include "sotto/core/error.hpp"
#include "sotto/deep/layers/detail/embedding.hpp"
#include "sotto/deep/layers/detail/linear.hpp"
#include "sotto/deep/layers/detail/norm.hpp"
#include "sotto/deep/layers/detail/parameter.hpp"
#include "sotto/deep/losses.hpp"
#include "sotto/deep/refusal_test.hpp"
#include "sotto/deep/tempered_sigmoid.hpp"

namespace sotto::deep::layers_test {

using torch::Tensor;
namespace nn = torch::nn;

// Squared loss against random targets of the right shape.
template <class Model>
void expect_model(Model& model, const Tensor& x, double tolerance = 3e-4) {
  Tensor y;
  {
    torch::NoGradGuard no_grad;
    y = torch::randn_like(model.forward(x));
  }
  expect_like_micro_batches(
      model, [&](const Tensor& a, const Tensor& b) { return squared_loss(model.forward(a), b); }, x,
      y, tolerance);
}

struct BagImpl : nn::Module {
  explicit BagImpl(std::int64_t padding = -1)
      : table(padding < 0 ? nn::EmbeddingOptions(11, 4)
                          : nn::EmbeddingOptions(11, 4).padding_idx(padding)),
        fc(4, 2) {
    register_module("table", table);
    register_module("fc", fc);
  }
  Tensor forward(const Tensor& tokens) { return fc(torch::tanh(table(tokens)).mean(1)); }
  nn::Embedding table;
  nn::Linear fc;
};

TEST(Embedding, RepeatedTokensAndPaddingAreExact) {
  torch::manual_seed(20);
  for (const std::int64_t padding : {-1, 0, 3}) {
    BagImpl model(padding);
    expect_model(model, torch::randint(11, {6, 9}, torch::kLong));
    expect_model(model, torch::full({2, 5}, 3, torch::kLong));
  }
}

struct TiedImpl : nn::Module {
  TiedImpl() : table(7, 5) { register_module("table", table); }
  Tensor forward(const Tensor& tokens) {
    return torch::linear(torch::tanh(table(tokens)), table->weight);
  }
  nn::Embedding table;
};

TEST(Embedding, TiedWithTheOutputLayerIsExactOrABound) {
  torch::manual_seed(21);
  TiedImpl model;
  const auto x = torch::randint(7, {5, 4}, torch::kLong),
             y = torch::randint(7, {5, 4}, torch::kLong);
  const auto losses = [&](const Tensor& a, const Tensor& b) {
    return softmax_cross_entropy(model.forward(a), b);
  };
  const auto exact = compare_with_micro_batches(model, losses, x, y, {.norm = 0.1});
  EXPECT_LT(exact.worst_norm, 1e-4);
  EXPECT_LT(exact.worst_sum, 1e-4);
  ClippedSum bound(model, {.norm = 0.1, .memory = 0}), slow(model, {.norm = 0.1});
  bound.add({x, y}, [&] { return losses(x, y); });
  slow.add_by_micro_batches(
      5, [&](std::int64_t i) { return losses(x.narrow(0, i, 1), y.narrow(0, i, 1)); });
  for (std::size_t i = 0; i < 5; ++i)
    EXPECT_GE(bound.private_norms()[i], slow.private_norms()[i] * (1 - 1e-6));
}

TEST(Embedding, RefusesOptionsThatCoupleRecords) {
  struct Net : nn::Module {
    explicit Net(const nn::EmbeddingOptions& o) : table(o) { register_module("table", table); }
    nn::Embedding table;
  };
  const auto x = torch::randint(5, {3, 2}, torch::kLong);
  for (const auto& [options, word] :
       {std::pair{nn::EmbeddingOptions(5, 2).max_norm(1.0), "max_norm"},
        {nn::EmbeddingOptions(5, 2).scale_grad_by_freq(true), "freq"}}) {
    Net net(options);
    const auto m = refusal<Error>(
        [&] { ClippedSum(net, {}).add({x}, [&] { return net.table(x).flatten(1).sum(1); }); });
    EXPECT_NE(m.find(word), std::string::npos) << m;
  }
}

TEST(Norms, LayerGroupAndInstanceNorm) {
  torch::manual_seed(22);
  nn::Sequential images(
      nn::Conv2d(nn::Conv2dOptions(2, 4, 3)), nn::GroupNorm(nn::GroupNormOptions(2, 4)), nn::Tanh(),
      nn::Conv2d(nn::Conv2dOptions(4, 4, 2)),
      nn::InstanceNorm2d(nn::InstanceNorm2dOptions(4).affine(true)), nn::Flatten(),
      nn::Linear(4 * 3 * 3, 3), nn::LayerNorm(nn::LayerNormOptions({3})));
  expect_model(*images.ptr(), torch::randn({5, 2, 6, 6}), 2e-3);
  nn::Sequential sequences(nn::Linear(3, 6), nn::LayerNorm(nn::LayerNormOptions({6})), nn::Tanh(),
                           RMSNorm(6), nn::Linear(6, 2));
  expect_model(*sequences.ptr(), torch::randn({4, 5, 3}), 1e-3);
}

TEST(Norms, BatchNormIsRefusedUnlessFrozen) {
  nn::Sequential model(nn::Linear(3, 4), nn::BatchNorm1d(4), nn::Linear(4, 2));
  const auto x = torch::randn({6, 3}), y = torch::randn({6, 2});
  const auto run = [&] {
    ClippedSum(*model, {}).add({x, y}, [&] { return squared_loss(model->forward(x), y); });
  };
  EXPECT_NE(refusal<Error>(run).find("the output for one record depends on the others"),
            std::string::npos);
  model->children()[1]->eval();
  for (auto& p : model->children()[1]->parameters()) p.requires_grad_(false);
  EXPECT_NO_THROW(run());
}

template <class Layer>
struct SequenceModel : nn::Module {
  SequenceModel(Layer l, std::int64_t features) : layer(l), fc(features, 2) {
    register_module("layer", layer);
    register_module("fc", fc);
  }
  Tensor forward(const Tensor& x) { return fc(std::get<0>(layer(x)).mean(1)); }
  Layer layer;
  nn::Linear fc;
};

TEST(Activations, AreFree) {
  torch::manual_seed(61);
  const Tempering tempering{.scale = 1.5, .inverse_temperature = 3, .offset = 0.7};
  nn::Sequential model(
      nn::Linear(4, 6), nn::Sigmoid(), nn::Linear(6, 6), nn::LeakyReLU(), nn::Linear(6, 6),
      nn::SiLU(), nn::Linear(6, 6), nn::GELU(), nn::Linear(6, 6),
      nn::Functional([=](const Tensor& x) { return tempered_sigmoid(x, tempering); }),
      nn::Dropout(0.0), nn::Linear(6, 2));
  const auto x = torch::randn({7, 4});
  expect_model(*model, x);
  EXPECT_TRUE(torch::allclose(tempered_sigmoid(x), torch::tanh(x), 1e-5, 1e-6));
}

TEST(Recurrent, LstmGruAndPlainCellsStackedAndInBothDirections) {
  torch::manual_seed(23);
  const auto x = torch::randn({4, 6, 3});
  SequenceModel lstm(nn::LSTM(nn::LSTMOptions(3, 5).batch_first(true)), 5);
  expect_model(lstm, x, 1e-3);
  SequenceModel deep_lstm(
      nn::LSTM(nn::LSTMOptions(3, 4).batch_first(true).num_layers(2).bidirectional(true)), 8);
  expect_model(deep_lstm, x, 1e-3);
  SequenceModel gru(
      nn::GRU(nn::GRUOptions(3, 5).batch_first(true).num_layers(2).bidirectional(true)), 10);
  expect_model(gru, x, 1e-3);
  SequenceModel no_bias(nn::GRU(nn::GRUOptions(3, 4).batch_first(true).bias(false)), 4);
  expect_model(no_bias, x, 1e-3);
  SequenceModel rnn(nn::RNN(nn::RNNOptions(3, 5).batch_first(true)), 5);
  expect_model(rnn, x, 1e-3);
  SequenceModel relu(
      nn::RNN(
          nn::RNNOptions(3, 5).batch_first(true).nonlinearity(torch::kReLU).bidirectional(true)),
      10);
  expect_model(relu, x, 1e-3);
}

TEST(Recurrent, LastStatesCarryGradientsToo) {
  torch::manual_seed(24);
  struct Net : nn::Module {
    Net() : lstm(nn::LSTMOptions(3, 4).batch_first(true)), fc(8, 2) {
      register_module("lstm", lstm);
      register_module("fc", fc);
    }
    Tensor forward(const Tensor& x) {
      const auto state = std::get<1>(lstm(x));
      return fc(torch::cat({std::get<0>(state)[0], std::get<1>(state)[0]}, 1));
    }
    nn::LSTM lstm;
    nn::Linear fc;
  };
  Net net;
  expect_model(net, torch::randn({5, 4, 3}), 1e-3);
}

// torch::nn::MultiheadAttention and the encoder of torch::nn::Transformer want sequences first.
template <class Layer>
struct SequenceFirst : nn::Module {
  explicit SequenceFirst(Layer l) : layer(l), fc(8, 2) {
    register_module("layer", layer);
    register_module("fc", fc);
  }
  Tensor forward(const Tensor& x) {  // (B, T, 8)
    const auto y = x.transpose(0, 1);
    Tensor out;
    if constexpr (std::is_same_v<Layer, nn::MultiheadAttention>) {
      out = std::get<0>(layer(y, torch::tanh(y), y * 2));
    } else {
      out = layer(y);
    }
    return fc(out.mean(0));
  }
  Layer layer;
  nn::Linear fc;
};

template <class Model>
void expect_sequence_first(Model& model, const Tensor& x) {
  const auto y = torch::randn({x.size(0), 2});
  for (const double norm : {0.05, 1e6}) {
    const auto c = compare_with_micro_batches(
        model, [&](const Tensor& a, const Tensor& b) { return squared_loss(model.forward(a), b); },
        x, y, {.norm = norm});
    EXPECT_LT(c.worst_norm, 1e-3);
    EXPECT_LT(c.worst_sum, 1e-3);
  }
}

TEST(Attention, StackedProjectionsOfDifferentInputsAreExact) {
  torch::manual_seed(25);
  SequenceFirst attention(nn::MultiheadAttention(nn::MultiheadAttentionOptions(8, 2)));
  expect_sequence_first(attention, torch::randn({5, 3, 8}));
}

TEST(Attention, TransformerEncoderOfTorch) {
  torch::manual_seed(26);
  SequenceFirst encoder(nn::TransformerEncoder(nn::TransformerEncoderOptions(
      nn::TransformerEncoderLayerOptions(8, 2).dim_feedforward(12).dropout(0), 2)));
  expect_sequence_first(encoder, torch::randn({4, 5, 8}));
}

struct LooseImpl : nn::Module {
  LooseImpl() : fc(4, 4) {
    register_module("fc", fc);
    gain = register_parameter("gain", torch::randn({4}));
    offset = register_parameter("offset", torch::randn({3, 4}));
    mix = register_parameter("mix", torch::randn({4, 2}));
  }
  Tensor forward(const Tensor& x) {
    const auto h = torch::tanh(scale(shift(fc(x), offset), gain));
    return torch::matmul(h, per_record(mix, x.size(0)));
  }
  nn::Linear fc;
  Tensor gain, offset, mix;
};

TEST(Parameters, ScaleShiftAndPerRecordAreExact) {
  torch::manual_seed(27);
  LooseImpl model;
  expect_model(model, torch::randn({5, 3, 4}));
}

}  // namespace sotto::deep::layers_test
