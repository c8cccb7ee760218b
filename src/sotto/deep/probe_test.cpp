#include "sotto/deep/detail/probe.hpp"

#include <gtest/gtest.h>
#include <torch/csrc/autograd/generated/Functions.h>
#include <torch/csrc/autograd/saved_variable_hooks.h>

#include "sotto/core/error.hpp"
#include "sotto/deep/clipped_sum.hpp"
#include "sotto/deep/losses.hpp"
#include "sotto/deep/refusal_test.hpp"

namespace sotto::deep::probe_test {

using torch::Tensor;
namespace nn = torch::nn;

struct HandMadeImpl : nn::Module {
  explicit HandMadeImpl(int which) : fc(4, 3), fault(which) {
    register_module("fc", fc);
    seen = register_buffer("seen", torch::zeros({1}));
  }
  Tensor forward(const Tensor& x) {
    auto h = fc(x);
    if (fault == 1) h = h - h.mean(0, true);  // batch statistics under no known name
    // The same, read past the operations of LibTorch: only what it does can be seen.
    if (fault == 2) h = h + 0.5 * x.detach().data_ptr<float>()[0];
    if (fault == 3) seen += 1;  // a buffer that counts passes
    if (fault == 4 && x.detach().data_ptr<float>()[0] < -0.5)
      h = 2 * h;  // a branch on another record
    return torch::tanh(h);
  }
  nn::Linear fc;
  Tensor seen;
  int fault;
};

std::string outcome(int fault) {
  torch::manual_seed(31);
  HandMadeImpl model(fault);
  const auto x = torch::randn({4, 4}), y = torch::randn({4, 3});
  return refusal<Error>([&] {
    probe(model, x, y,
          [&](const Tensor& a, const Tensor& b) { return squared_loss(model.forward(a), b); });
  });
}

TEST(Probe, PassesAModelThatKeepsRecordsApart) { EXPECT_EQ(outcome(0), ""); }

TEST(Probe, FindsCouplingByWhatItDoes) {
  EXPECT_NE(outcome(1).find("goes along the batch axis"), std::string::npos)
      << "the proof comes first: " << outcome(1);
  EXPECT_NE(outcome(2).find("changes with the others in its batch"), std::string::npos)
      << outcome(2);
  EXPECT_NE(outcome(4).find("changes with the others in its batch"), std::string::npos)
      << outcome(4);
}

// A value that LibTorch keeps for a derivative, exchanged for the mean of all records on the way
// back: no list shows such a hook.
struct Exchange : torch::autograd::SavedVariableHooks {
  void call_pack_hook(const Tensor& tensor) override { kept = tensor.detach(); }
  Tensor call_unpack_hook() override { return kept.mean(0, true).expand_as(kept); }
  Tensor kept;
};

TEST(Probe, FindsSavedValuesThatAreExchanged) {
  torch::manual_seed(34);
  nn::Linear fc(4, 3);
  const auto x = torch::randn({4, 4}), y = torch::randn({4, 3});
  const auto said = refusal<Error>([&] {
    probe(*fc, x, y, [&](const Tensor& a, const Tensor& b) {
      const Tensor scale = a.narrow(1, 0, 3) * 1, h = fc(a) * scale;
      auto* const node = dynamic_cast<torch::autograd::generated::MulBackward0*>(h.grad_fn().get());
      if (node != nullptr) node->other_.register_hooks(std::make_unique<Exchange>());
      return squared_loss(h, b);
    });
  });
  EXPECT_NE(said.find("changes with the others in its batch"), std::string::npos) << said;
}

TEST(Probe, FindsBuffersThatAPassChanges) {
  EXPECT_NE(outcome(3).find("buffer seen"), std::string::npos) << outcome(3);
}

TEST(Probe, FindsLossesDividedByTheBatch) {
  torch::manual_seed(32);
  nn::Sequential model(nn::Linear(3, 2));
  const auto x = torch::randn({4, 3}), y = torch::randn({4, 2});
  EXPECT_NE(refusal<Error>([&] {
              probe(*model, x, y, [&](const Tensor& a, const Tensor& b) {
                return squared_loss(model->forward(a), b) / a.size(0);
              });
            }).find("changes with the others"),
            std::string::npos);
}

TEST(Probe, FollowsRecordsToOtherAxesEvenWhenTheirLengthsAgree) {
  torch::manual_seed(33);
  nn::Sequential model(nn::Linear(3, 3));
  const auto x = torch::randn({4, 4, 3}), y = torch::randn({4, 4, 3});
  EXPECT_EQ(refusal<Error>([&] {
              probe(*model, x, y, [&](const Tensor& a, const Tensor& b) {
                return squared_loss(model->forward(a.transpose(0, 1).contiguous()).transpose(0, 1),
                                    b);
              });
            }),
            "");
  EXPECT_NE(refusal<Error>([&] {
              probe(*model, x, y, [&](const Tensor& a, const Tensor& b) {
                return squared_loss(model->forward(a.transpose(0, 1).contiguous()), b);
              });
            }),
            "");
}

TEST(Probe, LeavesDropoutModeAndBuffersAsTheyWere) {
  torch::manual_seed(34);
  nn::Sequential model(nn::Linear(3, 8), nn::Dropout(0.5), nn::Linear(8, 2));
  model->eval();
  const auto x = torch::randn({3, 3}), y = torch::randn({3, 2});
  EXPECT_NO_THROW(probe(*model, x, y, [&](const Tensor& a, const Tensor& b) {
    return squared_loss(model->forward(a), b);
  }));
  EXPECT_FALSE(model->is_training());
}

TEST(Privatize, NamesLayersThatCannotBe) {
  nn::Sequential batch_norm(nn::Linear(3, 4), nn::BatchNorm1d(4));
  EXPECT_NE(refusal<Error>([&] { privatize(batch_norm); }).find("layer 1: BatchNorm"),
            std::string::npos);
  nn::Sequential transposed(nn::ConvTranspose2d(nn::ConvTranspose2dOptions(1, 2, 3)));
  EXPECT_NE(refusal<Error>([&] { privatize(transposed); }).find("layer 0: this kind of layer"),
            std::string::npos);
  nn::Sequential good(nn::Linear(3, 4), nn::GroupNorm(2, 4));
  EXPECT_EQ(privatize(good).ptr(), good.ptr()) << "parameters are shared";
}

TEST(ClippedSum, MicroBatchesTrainModulesWithoutPerSampleGradient) {
  torch::manual_seed(35);
  nn::Sequential model(nn::ConvTranspose2d(nn::ConvTranspose2dOptions(1, 1, 2)), nn::Flatten());
  const auto x = torch::randn({3, 1, 2, 2}), y = torch::randn({3, 9});
  ClippedSum sum(*model, {.norm = 0.5});
  EXPECT_NE(refusal<Error>([&] {
              sum.add({x, y}, [&] { return squared_loss(model->forward(x), y); });
            }).find("not a private layer"),
            std::string::npos);
  sum.clear();
  sum.add_by_micro_batches(3, [&](std::int64_t i) {
    return squared_loss(model->forward(x.narrow(0, i, 1)), y.narrow(0, i, 1));
  });
  EXPECT_LE(sum.flat().norm().item<double>(), 1.5);
  EXPECT_GT(sum.flat().norm().item<double>(), 0);
}

}  // namespace sotto::deep::probe_test
