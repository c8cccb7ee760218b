// Models that treat records one by one: the pass must follow them, and what can be trained in one
// pass is.
#include <gtest/gtest.h>

#include "sotto/deep/layers/detail/linear.hpp"
#include "sotto/deep/layers/detail/norm.hpp"
#include "sotto/deep/layers/detail/parameter.hpp"
#include "sotto/deep/losses.hpp"
#include "sotto/deep/models/network.hpp"
#include "sotto/deep/rows/pass_test.hpp"

namespace sotto::deep::rows::honest_models_test {

constexpr std::int64_t B = 6;

Tensor classes() { return torch::randint(0, 3, {B}, torch::kLong); }

#define EXPECT_TRAINED(...) EXPECT_EQ(trained(__VA_ARGS__), "")
#define EXPECT_FOLLOWED(...) EXPECT_EQ(watched(__VA_ARGS__), "")

struct Together : nn::Module {};

TEST(HonestModels, NetworksOfTheCommandLine) {
  torch::manual_seed(1);
  const auto y = classes();
  for (const NetworkKind kind : {NetworkKind::softmax, NetworkKind::mlp, NetworkKind::cnn}) {
    Network n(NetworkOptions{.kind = kind, .input = {1, 28, 28}, .outputs = 10});
    const auto x = torch::rand({B, 1, 28, 28});
    EXPECT_TRAINED(*n, x, y, [&](auto& a, auto& b) { return softmax_cross_entropy(n(a), b); });
    EXPECT_TRAINED(*n, x, y, [&](auto& a, auto& b) { return entropy(n(a), b); });
  }
  for (const Activation f : {Activation::relu, Activation::sigmoid, Activation::leaky_relu,
                             Activation::silu, Activation::gelu}) {
    Network n(
        NetworkOptions{.kind = NetworkKind::mlp, .input = {12}, .outputs = 1, .activation = f});
    EXPECT_TRAINED(*n, torch::rand({B, 12}), torch::rand({B, 1}), [&](auto& a, auto& b) {
      return squared_loss(n(a), b) + deep::huber_loss(n(a), b, 1.0) +
             deep::binary_cross_entropy(n(a), b);
    });
  }
}

struct MnistExample : nn::Module {  // the network of LibTorch's example, with dropout as a function
  nn::Conv2d c1{nn::Conv2dOptions(1, 10, 5)}, c2{nn::Conv2dOptions(10, 20, 5)};
  nn::Dropout2d drop;
  nn::Linear f1{320, 50}, f2{50, 10};
  MnistExample() {
    register_module("c1", c1);
    register_module("c2", c2);
    register_module("drop", drop);
    register_module("f1", f1);
    register_module("f2", f2);
  }
  Tensor forward(Tensor x) {
    x = torch::relu(torch::max_pool2d(c1->forward(x), 2));
    x = torch::relu(torch::max_pool2d(drop->forward(c2->forward(x)), 2));
    x = torch::relu(f1->forward(x.view({-1, 320})));
    x = torch::dropout(x, 0.5, is_training());
    return torch::log_softmax(f2->forward(x), 1);
  }
};

struct Residual : nn::Module {
  nn::Conv2d a{nn::Conv2dOptions(3, 8, 3).padding(1)}, b{nn::Conv2dOptions(8, 8, 3).padding(1)};
  nn::GroupNorm norm{nn::GroupNormOptions(2, 8)};
  nn::Linear last{8, 5};
  Residual() {
    register_module("a", a);
    register_module("b", b);
    register_module("norm", norm);
    register_module("last", last);
  }
  Tensor forward(const Tensor& x) {
    auto h = a(x);
    h = h + torch::relu(norm(b(h)));
    h += x.mean(1, true);
    return last(F::adaptive_avg_pool2d(h, F::AdaptiveAvgPool2dFuncOptions(1)).flatten(1));
  }
};

// Pooled prototypes are public, also when there are as many of them as records.
TEST(HonestModels, PooledConstantsOfAnyNumber) {
  torch::manual_seed(3);
  const auto y = classes();
  for (const std::int64_t prototypes : {B - 1, B, B + 1}) {
    nn::Linear last(prototypes, 5);
    const auto bank = last->register_buffer("bank", torch::rand({prototypes, 1, 4, 4}));
    EXPECT_TRAINED(*last, torch::rand({B, 4}), y, [&](auto& a, auto& b) {
      const auto near = a.mm(torch::max_pool2d(bank, {2, 2}, {2, 2}).flatten(1).t());
      return F::cross_entropy(last(near), b, F::CrossEntropyFuncOptions().reduction(torch::kNone));
    });
  }
}

TEST(HonestModels, Images) {
  torch::manual_seed(2);
  const auto y = classes();
  MnistExample mnist;
  EXPECT_TRAINED(mnist, torch::rand({B, 1, 28, 28}), y, [&](auto& a, auto& b) {
    return F::nll_loss(mnist.forward(a), b, F::NLLLossFuncOptions().reduction(torch::kNone));
  });
  Residual residual;
  EXPECT_TRAINED(residual, torch::rand({B, 3, 8, 8}), y,
                 [&](auto& a, auto& b) { return entropy(residual.forward(a), b); });
  nn::Sequential signals(nn::Conv1d(nn::Conv1dOptions(2, 4, 3)), nn::ReLU(),
                         nn::InstanceNorm1d(nn::InstanceNorm1dOptions(4).affine(true)),
                         nn::MaxPool1d(2), nn::AvgPool1d(2), nn::Flatten(), nn::Linear(12, 3));
  EXPECT_TRAINED(*signals, torch::rand({B, 2, 16}), y,
                 [&](auto& a, auto& b) { return entropy(signals->forward(a), b); });
  nn::Sequential norms(nn::Linear(7, 16), nn::LayerNorm(nn::LayerNormOptions({16})), nn::GELU(),
                       nn::Dropout(0.3), nn::Linear(16, 3));
  EXPECT_TRAINED(*norms, torch::rand({B, 7}), y,
                 [&](auto& a, auto& b) { return entropy(norms->forward(a), b); });
}

struct LstmByHand : nn::Module {  // in-place writes into a view that was made before
  nn::Linear i{6, 32}, h{8, 32}, o{8, 3};
  LstmByHand() {
    register_module("i", i);
    register_module("h", h);
    register_module("o", o);
  }
  Tensor forward(const Tensor& x) {
    const auto records = x.size(0), steps = x.size(1);
    auto state = torch::zeros({records, 8}), c = torch::zeros({records, 8}),
         all = torch::zeros({steps, records, 8});
    auto alias = all.transpose(0, 1);
    for (std::int64_t t = 0; t < steps; ++t) {
      auto g = (i(x.select(1, t)) + h(state)).chunk(4, 1);
      c = torch::sigmoid(g[0]) * c + torch::sigmoid(g[1]) * torch::tanh(g[2]);
      state = torch::sigmoid(g[3]) * torch::tanh(c);
      all[t].copy_(state);
    }
    return o(alias.mean(1));
  }
};

TEST(HonestModels, Sequences) {
  torch::manual_seed(3);
  const auto y = classes();
  const auto first = torch::rand({B, 5, 6}), second = torch::rand({5, B, 6});
  nn::LSTM deep_lstm(
      nn::LSTMOptions(6, 8).batch_first(true).num_layers(2).bidirectional(true).dropout(0.2));
  EXPECT_TRAINED(*deep_lstm, first, y, [&](auto& a, auto& b) {
    auto [out, state] = deep_lstm(a);
    return entropy(out.select(1, -1).slice(1, 0, 3) + std::get<0>(state).sum(0).slice(1, 0, 3), b);
  });
  nn::LSTM lstm(nn::LSTMOptions(6, 8));
  EXPECT_TRAINED(
      *lstm, second, y,
      [&](auto& a, auto& b) { return entropy(std::get<0>(lstm(a))[-1].slice(1, 0, 3), b); }, 1);
  nn::GRU gru(nn::GRUOptions(6, 8).batch_first(true));
  EXPECT_TRAINED(*gru, first, y, [&](auto& a, auto& b) {
    return entropy(std::get<0>(gru(a)).mean(1).slice(1, 0, 3), b);
  });
  nn::RNN rnn(nn::RNNOptions(6, 8).batch_first(true));
  EXPECT_TRAINED(*rnn, first, y, [&](auto& a, auto& b) {
    return entropy(std::get<0>(rnn(a)).mean(1).slice(1, 0, 3), b);
  });
  nn::LSTMCell cell(6, 8);
  EXPECT_TRAINED(*cell, torch::rand({B, 6}), y,
                 [&](auto& a, auto& b) { return entropy(std::get<0>(cell(a)).slice(1, 0, 3), b); });
  LstmByHand by_hand;
  EXPECT_TRAINED(by_hand, first, y,
                 [&](auto& a, auto& b) { return entropy(by_hand.forward(a), b); });
}

TEST(HonestModels, Tokens) {
  torch::manual_seed(4);
  const auto x = torch::randint(0, 20, {B, 5}, torch::kLong), y = classes();
  nn::Embedding table(20, 8);
  nn::Linear last(8, 3);
  Together model;
  model.register_module("table", table);
  model.register_module("last", last);
  EXPECT_TRAINED(model, x, y, [&](auto& a, auto& b) { return entropy(last(table(a).mean(1)), b); });
  EXPECT_TRAINED(model, x, y, [&](auto& a, auto& b) {
    const auto counts = a.ne(0).unsqueeze(-1);
    return entropy(last((table(a) * counts).sum(1) / counts.sum(1).clamp_min(1)), b);
  });
  // A place of its own for every position: public numbers, one row for each record.
  nn::Embedding places(5, 8);
  model.register_module("places", places);
  EXPECT_TRAINED(model, x, y, [&](auto& a, auto& b) {
    const auto where = torch::arange(5).unsqueeze(0).expand({a.size(0), 5});
    return entropy(last((table(a) + places(where)).mean(1)), b);
  });
}

TEST(HonestModels, FoldedAxesAndOtherTurns) {
  torch::manual_seed(5);
  const auto y = classes();
  const auto x = torch::rand({B, 6}), s = torch::rand({B, 5, 6}), t = torch::rand({5, B, 6});
  nn::Linear l(6, 3);
  EXPECT_TRAINED(*l, s, y, [&](auto& a, auto& b) {
    return entropy(l(a.reshape({-1, 6})).view({-1, 5, 3}).mean(1), b);
  });
  EXPECT_TRAINED(*l, s, torch::randint(0, 3, {B, 5}, torch::kLong), [&](auto& a, auto& b) {
    return entropy(l(a).reshape({-1, 3}), b.reshape({-1})).view({-1, 5}).mean(1);
  });
  EXPECT_TRAINED(*l, s, y, [&](auto& a, auto& b) {
    return entropy(l(a.reshape({-1, 6})).slice(0, 0, torch::nullopt, 5), b);
  });
  EXPECT_TRAINED(
      *l, t, y,
      [&](auto& a, auto& b) {
        return entropy(l(a.reshape({-1, 6})).view({5, -1, 3}).mean(0), b);
      },
      1);
  EXPECT_TRAINED(*l, x, y, [&](auto& a, auto& b) {
    return entropy(torch::matmul(l->weight, a.t()).t() + l->bias, b);
  });
  EXPECT_TRAINED(*l, s, y, [&](auto& a, auto& b) {
    return entropy(torch::einsum("btf,cf->bc", {a, l->weight}) + l->bias, b);
  });
  EXPECT_TRAINED(*l, x, y, [&](auto& a, auto& b) {
    return entropy(l(a.data().clone().contiguous() + a.detach()), b);
  });
  EXPECT_TRAINED(*l, x, y, [&](auto& a, auto& b) {
    Tensor size;
    {
      const torch::NoGradGuard no_grad;
      size = (a * a).sum(1, true).sqrt();
    }
    return entropy(l(a / size), b);
  });
  EXPECT_TRAINED(*l, x, y, [&](auto& a, auto& b) {
    auto z = torch::stack({a, a * 2}, 1).flatten(1);
    z = torch::cat({z, torch::ones({B, 1})}, 1);
    z = F::pad(z, F::PadFuncOptions({1, 1}));
    const auto most = std::get<0>(z.topk(6, 1)), own = a.gather(1, b.unsqueeze(1));
    return entropy(l(torch::where(most > 0.5, most, a) + own), b);
  });
  // A table of records and targets side by side in one piece of memory.
  const auto both = torch::rand({B, 7});
  EXPECT_TRAINED(*l, both.slice(1, 0, 6), both.select(1, 6),
                 [&](auto& a, auto& b) { return l(a).square().sum(1) * b; });
  // A batch that is a part of a larger table.
  const auto table = torch::rand({3 * B, 6});
  EXPECT_TRAINED(*l, table.narrow(0, B + 1, B), y,
                 [&](auto& a, auto& b) { return entropy(l(a), b); });
  // One record.
  EXPECT_TRAINED(*l, s.narrow(0, 2, 1), y.narrow(0, 2, 1),
                 [&](auto& a, auto& b) { return entropy(l(a).mean(1), b); });
}

TEST(HonestModels, Attention) {
  torch::manual_seed(6);
  const auto y = classes();
  const auto x = torch::rand({5, B, 8});
  nn::TransformerEncoder encoder(nn::TransformerEncoderOptions(
      nn::TransformerEncoderLayerOptions(8, 2).dim_feedforward(16).dropout(0.1), 2));
  EXPECT_TRAINED(
      *encoder, x, y,
      [&](auto& a, auto& b) { return entropy(encoder(a).mean(0).slice(1, 0, 3), b); }, 1);
  nn::MultiheadAttention attention(nn::MultiheadAttentionOptions(8, 2));
  EXPECT_TRAINED(
      *attention, x, y,
      [&](auto& a, auto& b) {
        return entropy(std::get<0>(attention(a, a, a)).mean(0).slice(1, 0, 3), b);
      },
      1);
  EXPECT_TRAINED(
      *attention, x, y,
      [&](auto& a, auto& b) {
        const auto mask = a.select(2, 0).t() > 0.9;
        return entropy(std::get<0>(attention(a, a, a, mask)).mean(0).slice(1, 0, 3), b);
      },
      1);
  EXPECT_FOLLOWED(
      *attention, x, y,
      [&](auto& a, auto& b) {
        const auto query =
            attention->in_proj_bias.slice(0, 0, 8).view({1, 1, 8}).expand({1, a.size(1), 8});
        return entropy(std::get<0>(attention(query, a, a))[0].slice(1, 0, 3), b);
      },
      1);
}

struct ByNameImpl : nn::Module {  // private layers called by their names
  Tensor w = register_parameter("w", torch::randn({4, 6}));
  Tensor scale = register_parameter("scale", torch::ones({4}));
  Tensor start = register_parameter("start", torch::zeros({4}));
  RMSNorm norm{4};
  ByNameImpl() { register_module("norm", norm); }
  Tensor forward(const Tensor& x) {
    auto h = deep::linear(x, w, {});
    h = deep::scale(norm(h), scale) + per_record(start, x.size(0));
    return h.slice(1, 0, 3);
  }
};

TEST(HonestModels, PrivateLayersByName) {
  torch::manual_seed(7);
  ByNameImpl model;
  EXPECT_TRAINED(model, torch::randn({B, 6}), classes(),
                 [&](auto& a, auto& b) { return entropy(model.forward(a), b); });
}

TEST(HonestModels, DeclaredConstantsArePublic) {
  torch::manual_seed(8);
  nn::Linear l(6, 3);
  const auto x = torch::randn({B, 6}), y = classes(), weights = torch::tensor({1.0f, 2.0f, 0.5f});
  const auto losses = [&] {
    return F::cross_entropy(l(x), y,
                            F::CrossEntropyFuncOptions().weight(weights).reduction(torch::kNone));
  };
  ClippedSum sum(*l, {});
  EXPECT_NE(said([&] { sum.add({x, y}, losses); }).find("unknown origin"), std::string::npos);
  sum.declare_public(weights);
  EXPECT_EQ(said([&] { sum.add({x, y}, losses); }), "");
}

}  // namespace sotto::deep::rows::honest_models_test
