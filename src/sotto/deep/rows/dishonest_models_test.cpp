// Models that let records meet: each is refused by name, in the pass itself or in the rehearsal of
// raw reads.
#include <gtest/gtest.h>
#include <torch/script.h>

#include <sstream>
#include <thread>

#include "sotto/deep/rows/dishonest_case_test.hpp"
#include "sotto/deep/rows/rehearsal.hpp"

namespace sotto::deep::rows::dishonest_models_test {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

TEST_F(DishonestModels, GoAlongTheBatch) {
  const char* along = "batch axis";
  refused(along, [&](auto& a, auto& b) {  // sort by length, layer, unsort
    const auto order = a.select(1, 0).argsort();
    return entropy(l(a.index_select(0, order)).index_select(0, order.argsort()), b);
  });
  refused(along, [&](auto& a, auto& b) { return entropy(l(std::get<0>(a.sort(0))), b); });
  refused(along, [&](auto& a, auto& b) { return entropy(l(a.flip(0)).flip(0), b); });
  refused(along, [&](auto& a, auto& b) { return entropy(l(a + 1e-9 * a.roll(1, 0)), b); });
  refused("all axes", [&](auto& a, auto& b) { return entropy(l(a.roll(1)), b); });
  refused(along, [&](auto& a, auto& b) { return entropy(l(a.cumsum(0)), b); });
  refused("all axes", [&](auto& a, auto& b) { return entropy(l(a / a.max()), b); });
  refused("all axes",
          [&](auto& a, auto& b) { return entropy(l(a / a.abs().max().clamp_min(1)), b); });
  refused(along, [&](auto& a, auto& b) { return entropy(l(a / a.amax(0)), b); });
  refused(along, [&](auto& a, auto& b) { return entropy(l(a.softmax(0)), b); });
  refused(along, [&](auto& a, auto& b) { return entropy(l(a / a.std(0)), b); });
  refused(along,
          [&](auto& a, auto& b) { return entropy(l(torch::layer_norm(a.t(), {B}).t()), b); });
  refused("first axis", [&](auto& a, auto& b) {
    const auto kernel = torch::ones({6, 6, 3});
    return entropy(torch::conv1d(a.t().unsqueeze(0), kernel, {}, 1, 1)[0].t().slice(1, 0, 3), b);
  });
  refused("records",
          [&](auto& a, auto& b) { return entropy(l(a + a.unfold(0, 2, 1).mean(2)[0]), b); });
}

TEST_F(DishonestModels, AddWeakTermsOfTheBatch) {
  refused("batch axis", [&](auto& a, auto& b) {
    const auto h = l(a);
    return entropy(h, b) + 1e-6 * h.mean(0).square().mean();
  });
  refused("all axes", [&](auto& a, auto& b) {
    const auto h = l(a);
    return entropy(h, b) + 1e-6 * h.mean();
  });
  refused("averaged", [&](auto& a, auto& b) {
    return entropy(l(a), b) + 1e-6 * F::mse_loss(l(a), torch::zeros({B, 3}));
  });
  refused("averaged", [&](auto& a, auto& b) { return F::cross_entropy(l(a), b).expand({B}); });
  refused("batch axis", [&](auto& a, auto& b) { return entropy(l(a - a.data().mean(0)), b); });
  refused("batch axis", [&](auto& a, auto& b) {
    Tensor mean;
    {
      const torch::NoGradGuard no_grad;
      mean = a.mean(0);
    }
    return entropy(l(a - mean), b);
  });
  refused("batch axis", [&](auto& a, auto& b) {
    {
      const c10::InferenceMode inference;
      a.mean(0).clone();
    }
    return entropy(l(a), b);
  });
}

TEST_F(DishonestModels, MultiplyRecordsWithRecords) {
  refused("product", [&](auto& a, auto& b) {
    return entropy(l(torch::matmul(torch::softmax(torch::matmul(a, a.t()), -1), a)), b);
  });
  refused("product", [&](auto& a, auto& b) {
    return entropy(l(a) + a.matmul(a.t()).diagonal().unsqueeze(1), b);
  });
  refused("different axes", [&](auto& a, auto& b) {
    const auto s = a.select(1, 0);
    return entropy(l(a) + (s.unsqueeze(0) - s.unsqueeze(1)).sum(1, true), b);
  });
  refused("no rule", [&](auto& a, auto& b) {
    return entropy(l(a) + torch::cdist(a, a).select(1, 0).unsqueeze(1), b);
  });
  refused("no rule", [&](auto& a, auto& b) {
    return entropy(l(a) + std::get<1>(torch::linalg_svd(a))[0], b);
  });
  refused("batch axis", [&](auto& a, auto& b) {
    return entropy(l(a), b) + torch::einsum("bf,cf->b", {a, a});
  });
  const auto s = torch::randn({B, B, 6});  // lengths agree, axes do not
  refused("product", model, s, y, [&](auto& a, auto& b) {
    return entropy(l(torch::matmul(a, a.transpose(0, 1).transpose(1, 2))).mean(1).slice(1, 0, 6),
                   b);
  });
}

TEST_F(DishonestModels, ReadValues) {
  refused("all axes", [&](auto& a, auto& b) {
    Tensor z = a;
    if ((a < 0).any().template item<bool>()) z = a - a.mean(0);
    return entropy(l(z), b);
  });
  refused("records", [&](auto& a, auto& b) {
    return a[0][0].template item<float>() > 0 ? entropy(l(a), b) : entropy(l(-a), b);
  });
  refused("all axes", [&](auto& a, auto& b) {
    return (a < 0).any(1).sum().is_nonzero() ? entropy(l(a), b) : entropy(l(-a), b);
  });
  // equal() is answered from memory, without a look at values: it tells nothing of them.
  EXPECT_EQ(watched(model, x, y,
                    [&](auto& a, auto& b) {
                      EXPECT_TRUE(torch::equal(a, a));
                      EXPECT_FALSE(torch::equal(a, a * 1));
                      return entropy(l(a), b);
                    }),
            "");
  refused("mask", [&](auto& a, auto& b) {
    return entropy(l(a), b) + a.index({a.select(1, 0) > 0}).numel();
  });
  refused("depend on all records",
          [&](auto& a, auto& b) { return entropy(l(a), b) * (a > 0).nonzero().size(0); });
  refused("depend on all records",
          [&](auto& a, auto& b) { return entropy(l(a), b) * std::get<0>(at::_unique(b)).size(0); });
  refused("depend on all records",
          [&](auto& a, auto& b) { return entropy(l(a), b) + torch::bincount(b)[0]; });
  refused("no rule", [&](auto& a, auto& b) {  // its kernel reads the places itself
    return entropy(l(a), b) * a.tensor_split(b, 1)[0].size(1);
  });
  refused("read from the records",
          [&](auto& a, auto& b) { return entropy(l(a), b) + torch::one_hot(b).size(1); });
}

TEST_F(DishonestModels, CutOrMixRows) {
  const char* whole = "whole and in their places";
  const auto wide = torch::randn({B, 7}), square = torch::randn({6, 6}),
             longer = torch::randn({B, 12});
  refused(whole, model, wide, y, [&](auto& a, auto& b) {
    return entropy(l(a.view({7, B}).slice(0, 0, 6)), b);
  });
  refused(whole, [&](auto& a, auto& b) {
    return entropy(torch::tanh(a.view({B / 2, 12}).cumsum(1)).view({B, 6}).slice(1, 0, 3), b);
  });
  refused("batch axis", model, square, y, [&](auto& a, auto& b) { return entropy(l(a.t()), b); });
  refused("batch axis", model, longer, y, [&](auto& a, auto& b) {
    return entropy(l(a.t().reshape({B, 12}).slice(1, 0, 6)), b);
  });
  refused(whole, [&](auto& a, auto& b) {
    return entropy(l(torch::cat({a.slice(0, 0, 3), a.slice(0, 0, 3)}, 0)), b);
  });
  refused(whole, [&](auto& a, auto& b) { return entropy(l(a - a[0]), b); });
  refused(whole, [&](auto& a, auto& b) { return entropy(l(a - a.as_strided({6, 6}, {0, 1})), b); });
  refused(whole, [&](auto& a, auto& b) { return entropy(l(a.as_strided({B, 6}, {5, 1})), b); });
  refused("batch axis", [&](auto& a, auto& b) {  // an alias that was made before the records came
    auto kept = torch::zeros({B, 6});
    const auto alias = kept.t();
    kept.copy_(a);
    return entropy(l(a + alias.sum(1)), b);
  });
  refused("records", [&](auto& a, auto& b) {
    auto kept = torch::zeros({2 * B, 6});
    kept.slice(0, 1, B + 1).copy_(a);
    return entropy(l(a + kept.slice(0, 0, B)), b);
  });
  refused("records", [&](auto& a, auto& b) {
    auto kept = torch::zeros({B + 1, 6});
    kept.slice(0, 0, B).copy_(a);
    kept.slice(0, 1, B + 1).add_(a);
    return entropy(l(kept.slice(0, 0, B)), b);
  });
  const auto two = torch::randn({2, 6}), y2 = torch::randint(0, 3, {2}, torch::kLong);
  refused("", model, two, y2, [&](auto& a, auto& b) {  // a view of another type
    const auto z = a.view(torch::kShort).to(torch::kFloat).view({2, 12});
    return entropy(l(a + z.sum(1, true).t().mean(1)), b);
  });
  // Rows of a table that are not in the batch.
  const auto table = torch::randn({2 * B, 6});
  refused(whole, model, table.narrow(0, 0, B), y, [&](auto& a, auto& b) {
    return entropy(l(a - a.as_strided({B, 6}, {6, 1}, 6 * B)), b);
  });
}

TEST_F(DishonestModels, ChooseAmongRecords) {
  refused("batch axis",
          [&](auto& a, auto& b) { return entropy(l(a.gather(0, (a > 0).to(torch::kLong))), b); });
  refused("choose", [&](auto& a, auto& b) { return entropy(l(a.index_select(0, b)), b); });
  refused("batch axis",
          [&](auto& a, auto& b) { return entropy(l(a.index({torch::randperm(B)})), b); });
  refused("axis", [&](auto& a, auto& b) {
    const auto z = torch::zeros({3, 6}).scatter_add(0, b.unsqueeze(1).expand({B, 6}), a);
    return entropy(l(a - z.mean(0)), b);
  });
  refused("no rule", [&](auto& a, auto& b) {
    auto z = torch::zeros({3, 6});
    z.index_add_(0, b, a);
    return entropy(l(a - z.mean(0)), b);
  });
  refused("no rule", [&](auto& a, auto& b) { return entropy(l(a.renorm(2, 1, 1.0)), b); });
}

TEST_F(DishonestModels, UseLayersThatCouple) {
  nn::BatchNorm1d norm(6);
  refused("depends on the others", *norm, x, y,
          [&](auto& a, auto& b) { return entropy(norm(a).slice(1, 0, 3), b); });
  refused("depends on the others", [&](auto& a, auto& b) {
    return entropy(
        F::batch_norm(a, {}, {}, F::BatchNormFuncOptions().training(true)).slice(1, 0, 3), b);
  });
  nn::LSTM lstm(nn::LSTMOptions(6, 8).batch_first(true));
  refused("packed sequences", *lstm, torch::rand({B, 5, 6}), y, [&](auto& a, auto& b) {
    const auto packed =
        nn::utils::rnn::pack_padded_sequence(a, torch::full({B}, 5, torch::kLong), true);
    auto [out, state] = lstm->forward_with_packed_input(packed);
    return entropy(std::get<0>(state)[0].slice(1, 0, 3), b);
  });
  refused(
      "batch axis of the layer", *lstm, torch::rand({5, B, 6}), y,
      [&](auto& a, auto& b) { return entropy(std::get<0>(lstm(a))[-1].slice(1, 0, 3), b); }, 1);
  const auto tokens = torch::randint(0, 20, {B, 5}, torch::kLong);
  refused("scale_grad_by_freq", model, tokens, y, [&](auto& a, auto& b) {
    return entropy(torch::embedding(torch::rand({20, 3}), a, -1, true).mean(1), b);
  });
  nn::Embedding table(nn::EmbeddingOptions(20, 3).max_norm(1.0));
  refused("max_norm", *table, tokens, y,
          [&](auto& a, auto& b) { return entropy(table(a).mean(1), b); });
  refused("random numbers",
          [&](auto& a, auto& b) { return entropy(l(torch::poisson(a.abs())), b); });
  refused("rrelu", [&](auto& a, auto& b) { return entropy(l(at::rrelu(a, 0.1, 0.3, true)), b); });
}

TEST_F(DishonestModels, KeepRecords) {
  Holder keeps;
  auto buffer = keeps.register_buffer("kept", torch::zeros({B, 6}));
  keeps.register_module("layer", l);
  refused("writes records into a parameter, buffer", keeps, x, y, [&](auto& a, auto& b) {
    buffer.copy_(a);
    return entropy(l(a), b);
  });
  refused("given other memory", keeps, x, y, [&](auto& a, auto& b) {
    buffer.set_data(a);
    return entropy(l(a), b);
  });
  const Tensor earlier = x.clone();
  refused("unknown origin", [&](auto& a, auto& b) { return entropy(l(a - earlier), b); });
  refused("unknown origin", [&](auto& a, auto& b) {
    Tensor mean;
    std::thread([&] {
      const torch::NoGradGuard no_grad;
      mean = a.mean(0);
    }).join();
    return entropy(l(a - mean), b);
  });
  refused("unknown origin", [&](auto& a, auto& b) {
    return entropy(l(a - torch::from_blob(a.data_ptr(), {B, 6}).mean(0)), b);
  });
  refused("memory that grows", [&](auto& a, auto& b) {
    auto scratch = torch::zeros({1});
    scratch.resize_({B, 6});
    return entropy(l(a + scratch), b);
  });
}

TEST_F(DishonestModels, SwallowTheRefusal) {
  refused("batch axis", [&](auto& a, auto& b) {
    try {
      a.mean(0);
    } catch (...) {
    }
    return entropy(l(a), b);
  });
  // An operation whose failure depends on values.
  refused("failed on this batch", [&](auto& a, auto& b) {
    try {
      torch::nll_loss(a, b + 100, {}, at::Reduction::None);
    } catch (...) {
      return entropy(l(-a), b);
    }
    return entropy(l(a), b);
  });
}

struct OwnFunction : torch::autograd::Function<OwnFunction> {
  static Tensor forward(AutogradContext*, Tensor x) { return x * 1; }
  static variable_list backward(AutogradContext*, variable_list g) {
    return {g[0].mean(0, true).expand_as(g[0])};
  }
};

struct OwnNode : torch::autograd::Node {
  variable_list apply(variable_list&& g) override { return {g[0].mean(0, true).expand_as(g[0])}; }
};

TEST_F(DishonestModels, MixGradients) {
  refused("hook", [&](auto& a, auto& b) {
    auto h = l(a);
    h.register_hook([](Tensor g) { return g.mean(0, true).expand_as(g); });
    return entropy(torch::tanh(h), b);
  });
  refused("hook", [&](auto& a, auto& b) {
    auto h = l(a);
    h.retain_grad();
    return entropy(torch::tanh(h), b);
  });
  refused("hook", [&](auto& a, auto& b) {  // on a leaf
    Tensor leaf = a.detach().clone().requires_grad_();
    leaf.register_hook([](Tensor g) { return g; });
    return entropy(l(leaf), b);
  });
  refused("derivative of its own",
          [&](auto& a, auto& b) { return entropy(OwnFunction::apply(l(a)), b); });
  refused("derivative of its own", [&](auto& a, auto& b) {
    auto h = l(a);
    auto node = std::make_shared<OwnNode>();
    node->set_next_edges(torch::autograd::collect_next_edges(h));
    auto out = h.detach();
    torch::autograd::create_gradient_edge(out, node);
    return entropy(out, b);
  });
}

TEST_F(DishonestModels, WriteScripts) {
  torch::jit::Module script("Script");
  script.register_parameter("w", torch::randn({6, 3}).requires_grad_(), false);
  script.define(R"(
def good(self, x):
  h = torch.tanh(torch.matmul(x, self.w))
  if x.size(0) > 2:
    h = h * 2.0
  return h
def mean(self, x):
  return torch.matmul(x, self.w) - 1e-6 * x.mean(0).sum()
def branch(self, x):
  if bool((x < -100.0).any()):
    x = x * 2.0
  return torch.matmul(x, self.w)
)");
  Holder holder;
  holder.register_parameter("w", script.attr("w").toTensor());
  const auto call = [&](const char* f) {
    return [&script, f](const Tensor& a, const Tensor& b) {
      return entropy(script.get_method(f)({a}).toTensor(), b);
    };
  };
  for (int run = 0; run < 4; ++run)  // later runs are optimized
    EXPECT_EQ(watched(holder, x, y, call("good")), "");
  refused("batch axis", holder, x, y, call("mean"));
  for (int run = 0; run < 3; ++run) refused("all axes", holder, x, y, call("branch"));
}

// A trained layer on a public input with as many rows as there are records is not a way around.
TEST_F(DishonestModels, HideBehindPublicRows) {
  Holder shared;
  shared.register_module("layer", l);
  const auto losses = [&](const Tensor& a, const Tensor& b) {
    return entropy(l(torch::ones({B, 6})).flip(0) + a.slice(1, 0, 3), b);
  };
  const std::string message = trained(shared, x, y, losses);
  EXPECT_NE(message.find("batch axis"), std::string::npos) << message;
  const auto places = [&](const Tensor& a, const Tensor& b) {  // T = B
    return entropy((l(torch::ones({B, 6})).unsqueeze(0) + a.view({B, 2, 3}).mean(1, true)).mean(1),
                   b);
  };
  EXPECT_NE(trained(shared, x, y, places), "");
}

// The same inside of operations that run as a whole: a product with a public table is not taken for
// a layer on records, whose rows the rest of the operation mixes.
TEST_F(DishonestModels, HideBehindPublicRowsInsideOneOperation) {
  Holder tables;
  const Tensor w = tables.register_parameter("w", torch::randn({5, 6})),
               u = tables.register_parameter("u", torch::randn({5, 5})),
               e = tables.register_buffer("e", torch::ones({B, 6})),
               h = tables.register_buffer("h", torch::ones({B, 5})),
               few = tables.register_buffer("few", torch::ones({3, B})),
               many = tables.register_buffer("many", torch::ones({30, B}));
  const std::vector<std::pair<const char*, std::function<Tensor()>>> shared = {
      {"einsum",
       [&] {
         return torch::einsum("bf,cf,kb->kc", {e, w, few});
       }},
      {"multi_dot",
       [&] {
         return torch::linalg::multi_dot({many, e, w.t()});
       }},
      {"multi_dot, few",
       [&] {
         return torch::linalg::multi_dot({few, e, w.t()});
       }},
      {"chain_matmul",
       [&] {
         return torch::chain_matmul({few, e, w.t()});
       }},
      {"tensordot", [&] { return torch::tensordot(e, w, {1}, {1}); }},
      {"inner", [&] { return torch::inner(e, w); }},
      {"rnn_tanh_cell", [&] { return torch::rnn_tanh_cell(e, h, w, u); }},
      {"rnn_relu_cell", [&] { return torch::rnn_relu_cell(e, h, w, u); }}};
  for (const auto& [name, rows] : shared) {
    const auto losses = [&](const Tensor& a, const Tensor&) {
      return torch::mm(a.slice(1, 0, 5), rows().t()).sum(1);
    };
    EXPECT_NE(trained(tables, x, y, losses), "") << name;
  }
}

TEST_F(DishonestModels, NamesThePlaceAndWhatToDo) {
  Holder deep_model;
  nn::Sequential block(nn::Linear(6, 6), nn::Linear(6, 3));
  deep_model.register_module("block", block);
  PublicTensors known(deep_model);
  Pass pass(known, {x, y});
  try {
    const Pass::Watch watch(pass);
    block->forward(x).softmax(0);
    FAIL();
  } catch (const NotRowWise& e) {
    EXPECT_NE(std::string(e.what()).find("softmax.int (after layer block.1)"), std::string::npos)
        << e.what();
    EXPECT_NE(e.hint(), "");
    EXPECT_EQ(exit_code(e.code()), 3);
  }
}

// ---- past the operations

class RawReads : public DishonestModels {
 protected:
  std::string rehearsed(const LossesOn& losses) {
    return said([&] {
      rehearse(PublicTensors(model), {x, y},
               [&](const std::vector<Tensor>& t) { return losses(t[0], t[1]); });
    });
  }
  void fault(const LossesOn& losses) {
    const std::string message = rehearsed(losses);
    EXPECT_NE(message.find("past LibTorch's operations"), std::string::npos) << message;
  }
};

TEST_F(RawReads, AreFoundInTheRehearsal) {
  fault([&](auto& a, auto& b) {
    return entropy(l(a * static_cast<double>(a.template data_ptr<float>()[0])), b);
  });
  fault([&](auto& a, auto& b) {
    const auto h = l(a);
    const auto read = h.template accessor<float, 2>();
    return read[0][0] > 0 ? entropy(h, b) : entropy(-h, b);
  });
  fault([&](auto& a, auto& b) {
    auto h = torch::tanh(l(a));
    h.template data_ptr<float>()[0] = 1;
    return entropy(h, b);
  });
  fault([&](auto& a, auto& b) {
    auto mean = torch::zeros({6});
    std::thread([&] {
      const torch::NoGradGuard no_grad;
      mean.copy_(a.mean(0));
    }).join();
    return entropy(l(a - mean), b);
  });
  fault([&](auto& a, auto& b) {
    std::ostringstream out;
    out << a;
    return entropy(l(a), b);
  });
  fault([&](auto& a, auto& b) {
    return entropy(l(a), b) * static_cast<double>(b.template data_ptr<std::int64_t>()[1]);
  });
}

TEST_F(RawReads, HonestModelsPassTheRehearsal) {
  EXPECT_EQ(rehearsed([&](auto& a, auto& b) { return entropy(l(a), b); }), "");
  EXPECT_EQ(rehearsed([&](auto& a, auto& b) {
              const auto scale = torch::tensor({1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f});
              return entropy(l(a * scale), b);
            }),
            "");
  EXPECT_NE(
      rehearsed([&](auto& a, auto& b) { return entropy(l(a.softmax(0)), b); }).find("batch axis"),
      std::string::npos)
      << "refusals of the pass come through";
  // Twice, after the parent has used its threads: a child has one only.
  torch::mm(torch::randn({500, 500}), torch::randn({500, 500}));
  EXPECT_EQ(rehearsed([&](auto& a, auto& b) {
              torch::mm(torch::randn({500, 500}), torch::randn({500, 500}));
              return entropy(l(a), b);
            }),
            "");
}

}  // namespace sotto::deep::rows::dishonest_models_test
