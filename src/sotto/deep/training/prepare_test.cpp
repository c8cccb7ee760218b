// What a trainer tries on made-up records before it touches private ones.
#include <sstream>

#include "sotto/core/error.hpp"
#include "sotto/deep/training/training_case_test.hpp"

namespace sotto::deep::prepare_test {

namespace nn = torch::nn;

Records tokens(std::int64_t n) {
  torch::manual_seed(1);
  return {torch::randint(10, {n, 3}, torch::kLong), torch::randint(2, {n}, torch::kLong)};
}

PlanOptions plan_for(const nn::Module& model, NoiseKind noise) {
  return {.records = 40,
          .batch = 20,
          .steps = 3,
          .clip = 0.5,
          .noise_multiplier = 1.0,
          .delta = 1e-5,
          .noise = noise,
          .dimension = count_parameters(model)};
}

template <class Model>
Trainer trainer_of(Model& model, NoiseKind noise = NoiseKind::exact, TrainerOptions options = {}) {
  return Trainer(
      *model, DpSgdPlan(plan_for(*model, noise)),
      [&model](const Tensor& x, const Tensor& y) {
        return softmax_cross_entropy(model->forward(x), y);
      },
      std::move(options));
}

struct BagImpl : nn::Module {
  explicit BagImpl(bool centred = false, bool frozen = false)
      : table(10, 4), fc(4, 2), centre(centred) {
    register_module("table", table);
    register_module("fc", fc);
    if (frozen) table->weight.requires_grad_(false);
  }
  Tensor forward(const Tensor& x) {
    auto h = table(x).mean(1);
    if (centre) h = h - h.mean(0, true);
    return fc(h);
  }
  nn::Embedding table;
  nn::Linear fc;
  bool centre;
};
TORCH_MODULE(Bag);

TEST(Prepare, FindsCouplingOfTokensAndDoesNotForgetIt) {
  Bag model(true);
  Trainer trainer = trainer_of(model);
  Rng rng = Rng::insecure_seed(1);
  for (int attempt = 0; attempt < 2; ++attempt)
    EXPECT_NE(refusal<NotRowWise>([&] { trainer.fit(tokens(40), rng); }), "") << attempt;
  EXPECT_EQ(trainer.done(), 0u);
}

TEST(Prepare, FindsLossesThatLookAtOtherTargets) {
  nn::Sequential model(nn::Linear(4, 2));
  Trainer trainer(*model, DpSgdPlan(plan_for(*model, NoiseKind::exact)),
                  [&](const Tensor& x, const Tensor& y) {
                    const auto share = y.unsqueeze(0).eq(y.unsqueeze(1)).to(torch::kFloat).mean(1);
                    return softmax_cross_entropy(model->forward(x), y) * share;
                  });
  EXPECT_NE(refusal<NotRowWise>([&] { trainer.prepare(clouds(40)); }), "");
}

TEST(Prepare, TooLittleMemoryIsRefusedEachTime) {
  Network network = small_network();
  Trainer trainer = trainer_of(network, NoiseKind::exact, {.memory = 100});
  Rng rng = Rng::insecure_seed(1);
  for (int attempt = 0; attempt < 2; ++attempt)
    EXPECT_NE(refusal<InvalidArgument>([&] { trainer.fit(clouds(40), rng); }), "") << attempt;
  EXPECT_NE(refusal<InvalidArgument>(
                [&] { trainer_of(network, NoiseKind::bulk, {.physical_batch = -5}); }),
            "");
}

TEST(Prepare, DropoutInsideOfRecurrentLayersAndFrozenBatchNormAreNoCoupling) {
  struct LineImpl : nn::Module {
    LineImpl()
        : lstm(nn::LSTMOptions(1, 3).num_layers(2).dropout(0.5).batch_first(true)), fc(3, 2) {
      register_module("lstm", lstm);
      register_module("fc", fc);
    }
    Tensor forward(const Tensor& x) { return fc(std::get<0>(lstm(x.unsqueeze(2))).select(1, -1)); }
    nn::LSTM lstm;
    nn::Linear fc;
  };
  auto line = std::make_shared<LineImpl>();
  EXPECT_NO_THROW(trainer_of(line).prepare(clouds(40)));
  EXPECT_TRUE(line->lstm->is_training());

  nn::Sequential frozen(nn::Linear(4, 3), nn::BatchNorm1d(3), nn::Linear(3, 2));
  for (auto& p : frozen[1]->parameters()) p.requires_grad_(false);
  EXPECT_NE(refusal<Unsupported>([&] { trainer_of(frozen).prepare(clouds(40)); }), "");
  frozen[1]->eval();
  Trainer trainer = trainer_of(frozen);
  Rng rng = Rng::insecure_seed(1);
  EXPECT_NO_THROW(trainer.fit(clouds(40), rng));
  EXPECT_FALSE(frozen[1]->is_training());
}

// Whether a token is in the table is a private fact, for a table that is not trained too.
TEST(Prepare, UnknownTokensOfAFrozenTableStopNothing) {
  Bag model(false, true);
  Trainer trainer = trainer_of(model);
  Records odd(torch::full({40, 3}, 77, torch::kLong), torch::zeros({40}, torch::kLong));
  Rng rng = Rng::insecure_seed(1);
  EXPECT_NO_THROW(trainer.fit(odd, rng));
}

// Sines of neighbouring numbers are computed together: nothing is claimed for them.
TEST(Prepare, ClaimsNoProofForSinesNorForStepsBeforeAResume) {
  nn::Sequential waves(nn::Linear(4, 3), nn::Functional(torch::cos), nn::Linear(3, 2)),
      plain(nn::Linear(4, 3), nn::Tanh(), nn::Linear(3, 2));
  Trainer first = trainer_of(waves), second = trainer_of(plain), third = trainer_of(plain);
  Rng rng = Rng::insecure_seed(1);
  const Records records = clouds(40);
  first.fit(records, rng);
  EXPECT_FALSE(first.rounding_is_proved());
  second.step(records, rng);
  EXPECT_TRUE(second.rounding_is_proved());
  TensorFile state = second.state();
  state.tensors["proved"] = torch::zeros({1}, torch::kLong);
  third.restore(state);
  third.fit(records, rng);
  EXPECT_FALSE(third.rounding_is_proved());
  EXPECT_FALSE(trainer_of(plain, NoiseKind::bulk).rounding_is_proved());
}

// The certificate repeats the claim, so no private record may decide it.
TEST(Prepare, TheClaimIsMadeOnMadeUpRecordsAlone) {
  nn::Sequential model(nn::Linear(4, 2));
  bool odd = false;
  Trainer trainer(*model, DpSgdPlan(plan_for(*model, NoiseKind::exact)),
                  [&](const Tensor& x, const Tensor& y) {
                    return softmax_cross_entropy(model->forward(odd ? torch::cos(x) : x), y);
                  });
  Rng rng = Rng::insecure_seed(1);
  trainer.prepare(clouds(40));
  odd = true;
  trainer.fit(Records(torch::full({40, 4}, 1000.0f), torch::zeros({40}, torch::kLong)), rng);
  EXPECT_TRUE(trainer.rounding_is_proved());
}

// Weights that are loaded after the trainer was made are those that move.
TEST(Prepare, WeightsLoadedLaterAreTrained) {
  nn::Sequential model(nn::Linear(4, 2)), other(nn::Linear(4, 2));
  Trainer trainer = trainer_of(model, NoiseKind::bulk);
  std::stringstream bytes;
  torch::save(other, bytes);
  torch::load(model, bytes);
  const Tensor before = model->parameters()[0].detach().clone();
  Rng rng = Rng::insecure_seed(1);
  trainer.fit(clouds(40), rng);
  EXPECT_GT((model->parameters()[0] - before).norm().item<double>(), 0);
}

struct SparseBagImpl : nn::Module {
  SparseBagImpl() : table(nn::EmbeddingOptions(10, 4).sparse(true)), fc(4, 2) {
    register_module("table", table);
    register_module("fc", fc);
  }
  Tensor forward(const Tensor& x) { return fc(table(x).mean(1)); }
  nn::Embedding table;
  nn::Linear fc;
};
TORCH_MODULE(SparseBag);

TEST(Prepare, TakesSparseEmbeddings) {
  SparseBag model;
  Rng rng = Rng::insecure_seed(1);
  trainer_of(model).fit(tokens(40), rng);
  Trainer plain(*model, PlainPlan{.records = 40, .batch = 20, .steps = 2},
                [&](const Tensor& x, const Tensor& y) {
                  return softmax_cross_entropy(model->forward(x), y);
                });
  plain.fit(tokens(40), rng);
}

// What LibTorch refuses is refused by us, before the budget is asked, and says what to do.
TEST(Prepare, WhatLibTorchSaysOfMadeUpRecordsIsPassedOn) {
  nn::Linear fc(4, 2);
  Trainer fails(*fc, DpSgdPlan(plan_for(*fc, NoiseKind::bulk)),
                [&](const Tensor& x, const Tensor& y) {
                  TORCH_CHECK(x.size(1) == 3, "a model that does not fit");
                  return softmax_cross_entropy(fc->forward(x), y);
                });
  const std::string said = refusal<Unsupported>([&] { fails.prepare(clouds(40)); });
  EXPECT_NE(said.find("made-up records"), std::string::npos) << said;
  EXPECT_NE(said.find("a model that does not fit"), std::string::npos) << said;
}

// Trained or refused, but never by a raw message of LibTorch.
TEST(Prepare, ABiasThatIsAddedToAPlaceOfAnOutputIsNoRawError) {
  nn::Linear fc(4, 2);
  const auto shift = fc->register_parameter("shift", torch::zeros({2}));
  Trainer writes(*fc, DpSgdPlan(plan_for(*fc, NoiseKind::bulk)),
                 [&](const Tensor& x, const Tensor& y) {
                   auto h = torch::stack({fc->forward(x), fc->forward(x)}, 1);
                   h.select(1, 0) += shift;
                   return softmax_cross_entropy(h.sum(1), y);
                 });
  const std::string said = refusal<Error>([&] { writes.prepare(clouds(40)); });
  EXPECT_EQ(said.find("INTERNAL ASSERT"), std::string::npos) << said;
}

TEST(Prepare, ThePlanCountsTheParametersOfItsModel) {
  nn::Linear fc(4, 2);
  PlanOptions options = plan_for(*fc, NoiseKind::exact);
  const Objective objective = [&](const Tensor& x, const Tensor& y) {
    return softmax_cross_entropy(fc->forward(x), y);
  };
  options.dimension = 7;
  const std::string said =
      refusal<InvalidArgument>([&] { Trainer(*fc, DpSgdPlan(options), objective); });
  EXPECT_NE(said.find("7 trainable parameters, but the model has 10"), std::string::npos) << said;
  options.dimension = 0;
  const DpSgdPlan plan(options, *fc);
  EXPECT_EQ(plan.options().dimension, 10u);
  Trainer trainer(*fc, plan, objective);
  Rng rng = Rng::insecure_seed(1);
  trainer.fit(clouds(40), rng);
}

// LibTorch's own first example, as it is written there: dropout as a layer and as a function.
struct DigitsImpl : nn::Module {
  DigitsImpl()
      : conv1(nn::Conv2dOptions(1, 10, 5)),
        conv2(nn::Conv2dOptions(10, 20, 5)),
        fc1(320, 50),
        fc2(50, 10) {
    register_module("conv1", conv1);
    register_module("conv2", conv2);
    register_module("conv2_drop", conv2_drop);
    register_module("fc1", fc1);
    register_module("fc2", fc2);
  }
  Tensor forward(Tensor x) {
    x = torch::relu(torch::max_pool2d(conv1->forward(x), 2));
    x = torch::relu(torch::max_pool2d(conv2_drop->forward(conv2->forward(x)), 2));
    x = x.view({-1, 320});
    x = torch::relu(fc1->forward(x));
    x = torch::dropout(x, 0.5, is_training());
    return torch::log_softmax(fc2->forward(x), 1);
  }
  nn::Conv2d conv1, conv2;
  nn::Dropout2d conv2_drop;
  nn::Linear fc1, fc2;
};
TORCH_MODULE(Digits);

TEST(Prepare, TakesDropoutAsAFunction) {
  Digits model;
  torch::manual_seed(1);
  const Records records(torch::rand({40, 1, 28, 28}), torch::randint(10, {40}, torch::kLong));
  for (const NoiseKind noise : {NoiseKind::exact, NoiseKind::bulk}) {
    Trainer trainer = trainer_of(model, noise);
    Rng rng = Rng::insecure_seed(1);
    trainer.step(records, rng);
  }
}

// What drops everything teaches nothing; in a rehearsal it drops nothing.
TEST(Prepare, DropoutIsOffInRehearsalsOnly) {
  nn::Linear fc(nn::LinearOptions(4, 2).bias(false));
  PlanOptions options = plan_for(*fc, NoiseKind::bulk);
  options.noise_multiplier = 1e-9;
  for (const double p : {0.0, 1.0}) {
    Trainer trainer(*fc, DpSgdPlan(options), [&](const Tensor& x, const Tensor& y) {
      return softmax_cross_entropy(fc->forward(torch::dropout(x, p, fc->is_training())), y);
    });
    const Tensor before = fc->weight.detach().clone();
    Rng rng = Rng::insecure_seed(1);
    trainer.fit(clouds(40), rng);
    EXPECT_EQ((fc->weight - before).abs().max().item<double>() < 1e-6, p == 1) << p;
  }
}

// Coupling beside a dropout is still found.
TEST(Prepare, FindsCouplingBesideDropout) {
  nn::Linear fc(4, 2);
  Trainer trainer(*fc, DpSgdPlan(plan_for(*fc, NoiseKind::bulk)),
                  [&](const Tensor& x, const Tensor& y) {
                    const auto h = torch::dropout(x - x.mean(0, true), 0.3, fc->is_training());
                    return softmax_cross_entropy(fc->forward(h), y);
                  });
  EXPECT_NE(refusal<NotRowWise>([&] { trainer.prepare(clouds(40)); }), "");
}

struct EncoderImpl : nn::Module {
  EncoderImpl()
      : encoder(nn::TransformerEncoderOptions(
            nn::TransformerEncoderLayerOptions(8, 2).dim_feedforward(16), 1)),
        fc(8, 2) {
    register_module("encoder", encoder);
    register_module("fc", fc);
  }
  Tensor forward(const Tensor& x) { return fc(encoder(x.transpose(0, 1)).mean(0)); }
  nn::TransformerEncoder encoder;
  nn::Linear fc;
};
TORCH_MODULE(Encoder);

// Torch's attention wants sequences first; where the records are is followed, not declared.
TEST(Prepare, SequencesMayComeFirstInsideOfAModel) {
  torch::manual_seed(3);
  Encoder model;
  const Records records(torch::randn({40, 5, 8}), torch::randint(2, {40}, torch::kLong));
  Rng rng = Rng::insecure_seed(1);
  for (const NoiseKind noise : {NoiseKind::exact, NoiseKind::bulk}) {
    Trainer trainer = trainer_of(model, noise);
    const Tensor before = model->fc->weight.detach().clone();
    trainer.fit(records, rng);
    EXPECT_FALSE(torch::equal(before, model->fc->weight));
  }
}

}  // namespace sotto::deep::prepare_test
