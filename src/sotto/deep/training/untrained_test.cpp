// Ways for a record to leave without noise that are not the gradient: state that a forward pass
// writes, and messages.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "sotto/core/error.hpp"
#include "sotto/deep/layers/detail/embedding.hpp"
#include "sotto/deep/losses.hpp"
#include "sotto/deep/training/trainer.hpp"
#include "sotto/deep/training/training_case_test.hpp"

namespace sotto::deep::untrained_test {

// Keeps a value of its input past the operations of LibTorch, but only after the rehearsal: nothing
// can find that.
struct RemembersImpl : torch::nn::Module {
  RemembersImpl() {
    linear = register_module("linear", torch::nn::Linear(2, 2));
    frozen = register_parameter("frozen", torch::zeros({2}), false);
    seen = register_buffer("seen", torch::zeros({2}));
  }
  torch::Tensor forward(const torch::Tensor& x) {
    if (awake)
      for (torch::Tensor* kept : {&frozen, &seen})
        kept->data_ptr<float>()[0] = 1 + std::abs(x.data_ptr<float>()[0]);
    return linear->forward(x + frozen + seen);
  }
  torch::nn::Linear linear{nullptr};
  torch::Tensor frozen, seen;
  bool awake = false;
};
TORCH_MODULE(Remembers);

DpSgdPlan plan() {
  return DpSgdPlan({.records = 10,
                    .sampling = Sampling::full_batch,
                    .batch = 10,
                    .steps = 3,
                    .clip = 1,
                    .noise_multiplier = 1.0,
                    .delta = 1e-5});
}

Records records() {
  torch::manual_seed(1);
  auto x = torch::rand({10, 2});
  x[4][0] = 1234;
  return {x, torch::randint(2, {10}, torch::kLong)};
}

TEST(Untrained, WhatAForwardPassWritesIsNeitherReleasedNorKept) {
  Remembers model;
  Trainer trainer(*model, plan(), [&](const torch::Tensor& x, const torch::Tensor& y) {
    return softmax_cross_entropy(model->forward(x), y);
  });
  trainer.prepare(records());
  model->awake = true;
  Rng rng = Rng::insecure_seed(1);
  trainer.fit(records(), rng);
  const TensorFile state = trainer.state();
  const TensorMap released = trainer.release().value;
  for (const char* name : {"frozen", "seen"}) {
    EXPECT_EQ(released.at(name).abs().max().item<float>(), 0) << name;
    EXPECT_EQ(state.tensors.at(std::string("model.") + name).abs().max().item<float>(), 0) << name;
  }
}

// What is frozen is public: weights of another training that are loaded after the trainer was made,
// or between steps, stay.
TEST(Untrained, WhatIsLoadedLaterStays) {
  torch::nn::Sequential model(torch::nn::Linear(2, 3), torch::nn::Linear(3, 2));
  for (auto& p : model[0]->parameters()) p.requires_grad_(false);
  Trainer trainer(*model, plan(), [&](const torch::Tensor& x, const torch::Tensor& y) {
    return softmax_cross_entropy(model->forward(x), y);
  });
  Rng rng = Rng::insecure_seed(1);
  for (const float loaded : {3.0f, 4.0f}) {
    {
      const torch::NoGradGuard no_grad;
      model[0]->parameters()[0].fill_(loaded);
    }
    trainer.step(records(), rng);
    EXPECT_TRUE(model[0]->parameters()[0].eq(loaded).all().item<bool>()) << loaded;
  }
  EXPECT_TRUE(trainer.release().value.at("0.weight").eq(4).all().item<bool>());
}

// A step that fails half-way leaves nothing of a record behind that the next one would take for
// public.
TEST(Untrained, AFailedStepLeavesNothingBehind) {
  Remembers model;
  Trainer trainer(*model, plan(), [&](const torch::Tensor& x, const torch::Tensor& y) {
    const auto losses = softmax_cross_entropy(model->forward(x), y);
    TORCH_CHECK(!model->awake, "now");
    return losses;
  });
  trainer.prepare(records());
  Rng rng = Rng::insecure_seed(1);
  model->awake = true;
  EXPECT_NE(refusal<DataError>([&] { trainer.step(records(), rng); }), "");
  model->awake = false;
  trainer.fit(records(), rng);
  const TensorMap released = trainer.release().value;
  for (const char* name : {"frozen", "seen"})
    EXPECT_EQ(released.at(name).abs().max().item<float>(), 0) << name;
}

// Also when the buffer was given another shape before the step failed.
TEST(Untrained, ABufferOfAnotherShapeIsPutBack) {
  Remembers model;
  bool awake = false;
  Trainer trainer(*model, plan(), [&](const torch::Tensor& x, const torch::Tensor& y) {
    if (awake) {
      model->named_buffers()["seen"].set_data(torch::ones({7}));
      TORCH_CHECK(false, "now");
    }
    return softmax_cross_entropy(model->forward(x), y);
  });
  const auto shape = model->named_buffers()["seen"].sizes().vec();
  trainer.prepare(records());
  Rng rng = Rng::insecure_seed(1);
  awake = true;
  EXPECT_NE(refusal<DataError>([&] { trainer.step(records(), rng); }), "");
  awake = false;
  trainer.fit(records(), rng);
  const torch::Tensor seen = trainer.release().value.at("seen");
  EXPECT_EQ(seen.sizes().vec(), shape);
  EXPECT_EQ(seen.abs().max().item<float>(), 0);
}

TEST(Untrained, WhatLibTorchSaysOfARecordIsWithheld) {
  torch::nn::Linear model(2, 2);
  bool awake = false;
  Trainer trainer(*model, plan(), [&](const torch::Tensor& x, const torch::Tensor& y) {
    TORCH_CHECK(!awake, "found ", 1234);
    return softmax_cross_entropy(model->forward(x), y);
  });
  trainer.prepare(records());
  awake = true;
  Rng rng = Rng::insecure_seed(1);
  try {
    trainer.fit(records(), rng);
    FAIL() << "no error";
  } catch (const DataError& e) {
    EXPECT_EQ(std::string(e.what()).find("1234"), std::string::npos) << e.what();
  }
}

// A branch that made-up records did not take: which parameter it left out is not told.
TEST(Untrained, WhatTheEngineSaysOfAStepIsWithheld) {
  torch::nn::Linear model(2, 2);
  bool awake = false;
  Trainer trainer(*model, plan(), [&](const torch::Tensor& x, const torch::Tensor& y) {
    const auto logits =
        torch::linear(x, awake ? model->weight.detach() : model->weight, model->bias);
    return softmax_cross_entropy(logits, y);
  });
  trainer.prepare(records());
  awake = true;
  Rng rng = Rng::insecure_seed(1);
  const std::string said = refusal<DataError>([&] { trainer.fit(records(), rng); });
  EXPECT_NE(said.find("withheld"), std::string::npos) << said;
  EXPECT_EQ(said.find("weight"), std::string::npos) << said;
}

struct BagImpl : torch::nn::Module {
  BagImpl() {
    table = register_module("table", torch::nn::Embedding(5, 3));
    linear = register_module("linear", torch::nn::Linear(3, 2));
  }
  torch::Tensor forward(const torch::Tensor& tokens) {
    return linear->forward(table->forward(tokens).sum(1));
  }
  torch::nn::Embedding table{nullptr};
  torch::nn::Linear linear{nullptr};
};
TORCH_MODULE(Bag);

TEST(Untrained, TokensOutsideTheTableTeachNothingAndStopNothing) {
  torch::manual_seed(2);
  Bag model;
  const auto y = torch::zeros({2}, torch::kLong);
  const auto sum_of = [&](std::vector<std::int64_t> tokens) {
    ClippedSum sum(*model, {.norm = 1e6});
    const auto x = torch::tensor(tokens, torch::kLong).view({2, -1});
    sum.add({x, y}, [&] { return softmax_cross_entropy(model->forward(x), y); });
    return sum.flat().clone();
  };
  EXPECT_TRUE(torch::allclose(sum_of({1, 99, 2, -7}), sum_of({1, 2})));
}

}  // namespace sotto::deep::untrained_test
