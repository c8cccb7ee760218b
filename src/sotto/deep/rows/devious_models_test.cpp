// Models that go around the operations, the layers or the step: operations of their own, memory
// exchanged below tensors, state between steps, callbacks, generators seeded by records; and honest
// mistakes that let records meet.
#include <ATen/record_function.h>
#include <torch/library.h>
#include <torch/script.h>

#include "sotto/deep/rows/dishonest_case_test.hpp"
#include "sotto/deep/rows/rehearsal.hpp"
#include "sotto/deep/training/training_case_test.hpp"

namespace sotto::deep::rows::devious_models_test {

Tensor centred(const Tensor& x) { return x - x.mean(0); }

TORCH_LIBRARY(sotto_test, library) {
  library.def("composite(Tensor x) -> Tensor", centred);
  library.def("kernel(Tensor x) -> Tensor");
}
TORCH_LIBRARY_IMPL(sotto_test, CPU, library) { library.impl("kernel", centred); }

Tensor called(const char* name, const Tensor& x) {
  return c10::Dispatcher::singleton()
      .findSchemaOrThrow(name, "")
      .typed<Tensor(const Tensor&)>()
      .call(x);
}

class DeviousModels : public DishonestModels {
 protected:
  // The pass sees nothing; the rehearsal with locked memory does.
  void found_in_rehearsal(const LossesOn& losses) {
    const std::string message = said([&] {
      rehearse(PublicTensors(model), {x, y},
               [&](const std::vector<Tensor>& t) { return losses(t[0], t[1]); });
    });
    EXPECT_NE(message.find("past LibTorch's operations"), std::string::npos) << message;
  }
  void taken(const LossesOn& losses) { EXPECT_EQ(watched(model, x, y, losses), ""); }
};

TEST_F(DeviousModels, BringOperationsOfTheirOwn) {
  for (const char* name : {"sotto_test::composite", "sotto_test::kernel"})
    refused("no rule", [&](auto& a, auto& b) { return entropy(l(called(name, a)), b); });
}

TEST_F(DeviousModels, TakeTheBatchForASequenceByMistake) {
  const auto s = torch::rand({B, 5, 8});  // torch wants (5, B, 8)
  nn::MultiheadAttention attention(nn::MultiheadAttentionOptions(8, 2));
  refused("records with records", *attention, s, y, [&](auto& a, auto& b) {
    return entropy(std::get<0>(attention(a, a, a)).mean(1).slice(1, 0, 3), b);
  });
  nn::TransformerEncoder encoder(nn::TransformerEncoderOptions(
      nn::TransformerEncoderLayerOptions(8, 2).dim_feedforward(16).dropout(0), 1));
  refused("records with records", *encoder, s, y,
          [&](auto& a, auto& b) { return entropy(encoder(a).mean(1).slice(1, 0, 3), b); });
  // As many features as records: a flag of each record meets the features of all.
  refused("different axes", [&](auto& a, auto& b) {
    return entropy(l(torch::where(a.select(1, 0) > 0, a, torch::zeros_like(a))), b);
  });
  refused("batch axis", [&](auto& a, auto& b) {
    return entropy(l(F::normalize(a, F::NormalizeFuncOptions().dim(0))), b);
  });
}

TEST_F(DeviousModels, MeasureTheBatch) {
  const auto minus = [&](const Tensor& a, const Tensor& b, const Tensor& z) {
    return entropy(l(a - z), b);
  };
  refused("all axes", [&](auto& a, auto& b) { return minus(a, b, a.median()); });
  refused("batch axis", [&](auto& a, auto& b) { return minus(a, b, std::get<0>(a.mode(0))); });
  refused("batch axis",
          [&](auto& a, auto& b) { return minus(a, b, std::get<0>(a.kthvalue(2, 0))); });
  refused("all axes", [&](auto& a, auto& b) { return minus(a, b, a.norm()); });
  refused("depend on all records", [&](auto& a, auto& b) { return minus(a, b, a.histc(4)[0]); });
  refused("no rule", [&](auto& a, auto& b) { return minus(a, b, a.quantile(0.5, 0)); });
  refused("no rule", [&](auto& a, auto& b) { return minus(a, b, a.count_nonzero()); });
  // A scale for all records, chosen by the largest.
  refused("no rule", [&](auto& a, auto& b) {
    return minus(a, b, at::quantize_per_tensor_dynamic(a, torch::kQUInt8, false).dequantize());
  });
  refused("all axes", [&](auto& a, auto& b) {  // into a tensor that was public
    auto mean = torch::zeros({6});
    torch::mean_out(mean, a, 0);
    return minus(a, b, mean);
  });
  refused("no rule", [&](auto& a, auto& b) {
    auto sums = torch::zeros({3, 6});
    sums.index_put_({b}, a, true);
    return minus(a, b, sums.mean(0));
  });
}

TEST_F(DeviousModels, ShiftRowsByOne) {
  refused("whole and in their places", [&](auto& a, auto& b) {
    return entropy(l(a.repeat({2, 1}).narrow(0, 1, B)), b);
  });
  refused("batch axis", [&](auto& a, auto& b) {
    return entropy(l(torch::cat({torch::zeros({1, 6}), a}, 0).narrow(0, 0, B)), b);
  });
  refused("whole and in their places", [&](auto& a, auto& b) {
    auto rows = a.unbind(0);
    std::reverse(rows.begin(), rows.end());
    return entropy(l(torch::stack(rows)), b);
  });
  refused("whole and in their places", [&](auto& a, auto& b) {
    return entropy(l(a.unsqueeze(0).expand({B, B, 6}).transpose(0, 1).select(0, 1)), b);
  });
}

TEST_F(DeviousModels, PutRecordsInThePlaceOfWeights) {
  const auto three = torch::randn({3, 6}), y3 = torch::randint(0, 3, {3}, torch::kLong);
  const Tensor kept = l->weight.data().clone();
  refused("records with records", model, three, y3, [&](auto& a, auto& b) {
    struct Back {
      nn::Linear& layer;
      const Tensor& weight;
      ~Back() { layer->weight.set_data(weight); }
    } back{l, kept};
    l->weight.set_data(torch::tanh(a));  // and back again before anybody looks
    return entropy(l(torch::ones_like(a)), b);
  });
  nn::BatchNorm1d norm(6);
  norm->eval();
  model.register_module("norm", norm);
  refused("batch axis", [&](auto& a, auto& b) {
    const torch::NoGradGuard no_grad;
    norm->running_mean.mul_(0.9).add_(a.mean(0), 0.1);
    return entropy(l(norm(a)), b);
  });
  refused("whole and in their places", [&](auto& a, auto& b) {
    const torch::NoGradGuard no_grad;
    norm->running_mean.lerp_(a.select(0, 0), 0.1);
    return entropy(l(norm(a)), b);
  });
  refused("depends on the others", [&](auto& a, auto& b) {
    norm->train();
    return entropy(l(norm(a)), b);
  });
}

TEST_F(DeviousModels, SwitchTheWatchOff) {
  refused("unknown origin", [&](auto& a, auto& b) {
    Tensor mean;
    {
      const c10::impl::ExcludeDispatchKeyGuard unwatched(kWatchKey);
      mean = a.mean(0);
    }
    return entropy(l(a - mean), b);
  });
  refused("batch axis", [&](auto& a, auto& b) {
    const at::AutoDispatchBelowAutograd below;
    return entropy(l(a - a.mean(0)), b);
  });
  found_in_rehearsal([&](auto& a, auto& b) {  // into memory that the pass takes for public
    auto mean = torch::zeros({6});
    {
      const c10::impl::ExcludeDispatchKeyGuard unwatched(kWatchKey);
      const torch::NoGradGuard no_grad;
      mean.copy_(a.mean(0));
    }
    return entropy(l(a - mean), b);
  });
  found_in_rehearsal([&](auto& a, auto& b) {  // below a storage that the pass takes for public
    auto other = torch::zeros({B, 6});
    other.storage().set_data_ptr_noswap(at::DataPtr(
        a.storage().data(), a.storage().data(), [](void*) {}, a.device()));
    return entropy(l(a - other.mean(0)), b);
  });
  refused("not seen to be made", [&](auto& a, auto& b) {
    auto first = torch::empty({0});
    first.set_(a.storage(), 0, {B, 6}, {0, 1});
    return entropy(l(a - first), b);
  });
}

TEST_F(DeviousModels, ReadBesideTheOperations) {
  found_in_rehearsal([&](auto& a, auto& b) {  // a generator seeded by a record
    torch::manual_seed(static_cast<std::uint64_t>(a.template data_ptr<float>()[0]));
    return entropy(l(torch::dropout(a, 0.5, true)), b);
  });
  found_in_rehearsal([&](auto& a, auto& b) {  // LibTorch's own threads
    double sum = 0;
    at::parallel_for(0, B, B, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) sum += a.template data_ptr<float>()[i * 6];
    });
    return entropy(l(a * sum), b);
  });
  found_in_rehearsal([&](auto& a, auto& b) {  // somebody who is told of every operation
    const auto handle = at::addThreadLocalCallback(
        at::RecordFunctionCallback(
            [](const at::RecordFunction& call) -> std::unique_ptr<at::ObserverContext> {
              volatile float sum = 0;
              for (const auto& v : call.inputs())
                if (v.isTensor() && v.toTensor().defined() && v.toTensor().dim() == 2)
                  sum = sum + *static_cast<const float*>(v.toTensor().data_ptr());
              return nullptr;
            })
            .needsInputs(true)
            .scopes({at::RecordScope::FUNCTION}));
    const Tensor losses = entropy(l(a), b);
    at::removeCallback(handle);
    return losses;
  });
  found_in_rehearsal([&](auto& a, auto& b) {  // written out and read back
    return entropy(l(a), b) * static_cast<double>(torch::pickle_save(a).back());
  });
  torch::jit::Module script("Script");
  script.define(R"(
def lists(self, x):
  s = 0.0
  v : List[List[float]] = x.tolist()
  for r in v:
    s += r[0]
  return x * s
)");
  found_in_rehearsal(
      [&](auto& a, auto& b) { return entropy(l(script.get_method("lists")({a}).toTensor()), b); });
}

// What depends on no record, or on each alone, is nobody's business.
TEST_F(DeviousModels, MayDoWhatIsHarmless) {
  taken([&](auto& a, auto& b) { return entropy(l(a.unsqueeze(0).expand({B, B, 6})[1]), b); });
  taken([&](auto& a, auto& b) { return entropy(l(torch::bernoulli(a.sigmoid())), b); });
  taken(
      [&](auto& a, auto& b) { return entropy(l(a) / torch::linalg_norm(l->weight.detach()), b); });
  taken([&](auto& a, auto& b) {
    {
      const torch::NoGradGuard no_grad;
      l->weight.mul_(0.999);
    }
    return entropy(l(a), b);
  });
  taken([&](auto& a, auto& b) {
    torch::manual_seed(7);
    return entropy(l(torch::dropout(a, 0.5, true)), b);
  });
}

// State between steps is found before the first record is read.
TEST_F(DeviousModels, RememberEarlierSteps) {
  const auto prepared = [](const std::function<Tensor(nn::Linear&, const Tensor&)>& forward) {
    torch::manual_seed(1);
    nn::Linear layer(4, 2);
    Trainer trainer(
        *layer,
        DpSgdPlan({.records = 60, .batch = 20, .steps = 3, .noise_multiplier = 1.0, .delta = 1e-5}),
        [&](const Tensor& a, const Tensor& b) {
          return softmax_cross_entropy(forward(layer, a), b);
        });
    return said([&] { trainer.prepare(clouds(60)); });
  };
  Tensor kept, sum;
  const std::string activations = prepared([&](auto& layer, const Tensor& a) {
    const Tensor h = layer(a);
    const Tensor out = kept.defined() && kept.sizes() == h.sizes() ? h + 1e-6 * kept : h;
    kept = h.detach();
    return out;
  });
  EXPECT_NE(activations.find("unknown origin"), std::string::npos) << activations;
  const std::string sums = prepared([&](auto& layer, const Tensor& a) {
    const Tensor h = layer(a);
    if (!sum.defined()) sum = torch::zeros({2});
    {
      const torch::NoGradGuard no_grad;
      sum.add_(h[0]);
    }
    return h + 1e-6 * sum;
  });
  EXPECT_NE(sums.find("whole and in their places"), std::string::npos) << sums;
}

}  // namespace sotto::deep::rows::devious_models_test
