// The trainer takes only models that treat records one by one: attacks that a probe with a
// tolerance let pass.
#include <set>

#include "sotto/deep/rows/not_row_wise.hpp"
#include "sotto/deep/training/training_case_test.hpp"

namespace sotto::deep::row_by_row_test {

namespace nn = torch::nn;

using Forward = std::function<Tensor(nn::Linear&, const Tensor&)>;

struct Attempt {
  nn::Linear layer{4, 2};
  Trainer trainer;
  Attempt(NoiseKind noise, const Objective& objective, TrainerOptions options = {},
          std::uint64_t steps = 3)
      : trainer(*layer,
                DpSgdPlan({.records = 60,
                           .batch = 20,
                           .steps = steps,
                           .clip = 0.5,
                           .noise_multiplier = 1.0,
                           .delta = 1e-5,
                           .noise = noise,
                           .dimension = 10}),
                objective, std::move(options)) {}
};

std::string outcome(NoiseKind noise, const Forward& forward) {
  torch::manual_seed(1);
  nn::Linear* layer = nullptr;
  Attempt attempt(noise, [&](const Tensor& x, const Tensor& y) {
    return softmax_cross_entropy(forward(*layer, x), y);
  });
  layer = &attempt.layer;
  return refusal<NotRowWise>([&] { attempt.trainer.prepare(clouds(60)); });
}

void expect_refused(const Forward& forward, const char* why) {
  for (const NoiseKind noise : {NoiseKind::exact, NoiseKind::bulk}) {
    const std::string said = outcome(noise, forward);
    EXPECT_NE(said.find(why), std::string::npos) << said;
  }
}

TEST(RowByRow, HonestModelsAreTaken) {
  for (const NoiseKind noise : {NoiseKind::exact, NoiseKind::bulk})
    EXPECT_EQ(outcome(noise, [](auto& l, auto& x) { return l(torch::tanh(x)); }), "");
}

TEST(RowByRow, RowsThatAreSortedAndPutBackAreRefused) {
  expect_refused(
      [](auto& l, const Tensor& x) {
        const auto order = x.select(1, 0).argsort();
        return l(x.index_select(0, order)).index_select(0, order.argsort());
      },
      "along the batch axis");
}

TEST(RowByRow, WeakTermsOfTheBatchAreRefused) {
  expect_refused(
      [](auto& l, const Tensor& x) {
        const auto h = l(x);
        return h + 1e-9 * h.mean(0).square().mean();
      },
      "the batch axis");
}

TEST(RowByRow, WhatOnlySomeRecordsTriggerIsRefused) {
  expect_refused([](auto& l, const Tensor& x) { return l(x / x.abs().max().clamp_min(1)); },
                 "all axes");
  expect_refused(
      [](auto& l, const Tensor& x) { return (x < 0).any().item<bool>() ? l(x - x.mean(0)) : l(x); },
      "all axes");
}

TEST(RowByRow, RawReadsAreRefused) {
  expect_refused(
      [](auto& l, const Tensor& x) { return x.data_ptr<float>()[0] > 1e6f ? 2 * l(x) : l(x); },
      "past LibTorch's operations");
}

// A proof that ends with the rehearsal would miss a model that waits.
TEST(RowByRow, AModelThatChangesItsMindIsStoppedInTheStep) {
  torch::manual_seed(2);
  nn::Linear* layer = nullptr;
  bool couples = false;
  Attempt attempt(NoiseKind::bulk, [&](const Tensor& x, const Tensor& y) {
    const auto h = (*layer)(x);
    return softmax_cross_entropy(couples ? h - h.mean(0) : h, y);
  });
  layer = &attempt.layer;
  Rng rng = Rng::insecure_seed(1);
  const Records records = clouds(60);
  attempt.trainer.step(records, rng);
  couples = true;
  EXPECT_THROW(attempt.trainer.step(records, rng), Error);
}

std::set<std::int64_t> sizes_in_training(NoiseKind noise, bool tells, std::string* words) {
  torch::manual_seed(3);
  nn::Linear* layer = nullptr;
  bool prepared = false;
  std::set<std::int64_t> sizes;
  Attempt attempt(
      noise,
      [&](const Tensor& x, const Tensor& y) {
        if (prepared) sizes.insert(x.size(0));
        const auto h = (*layer)(x);
        return softmax_cross_entropy(tells ? h * (1 + 1e-9 * static_cast<double>(x.size(0))) : h,
                                     y);
      },
      {.physical_batch = 40}, 20);
  layer = &attempt.layer;
  const Records records = clouds(60);
  attempt.trainer.prepare(records);
  prepared = true;
  Rng rng = Rng::insecure_seed(1);
  attempt.trainer.fit(records, rng);
  *words = attempt.trainer.row_by_row();
  return sizes;
}

// What is multiplied with B is computed row by row and tells B, which is private under add_remove,
// however faintly: then all batches have one public size.
TEST(RowByRow, BatchesHaveOnePublicSizeUnlessNothingIsMadeOfIt) {
  for (const NoiseKind noise : {NoiseKind::exact, NoiseKind::bulk}) {
    std::string words;
    EXPECT_EQ(sizes_in_training(noise, true, &words).size(), 1u);
    EXPECT_EQ(words.find("number of rows"), std::string::npos) << words;
    const auto free = sizes_in_training(noise, false, &words);
    EXPECT_NE(words.find("no use of the number of rows"), std::string::npos) << words;
    if (noise == NoiseKind::bulk) {
      EXPECT_GT(free.size(), 4u);
    } else {
      for (const std::int64_t size : free) EXPECT_EQ(size % 8, 0);
    }
  }
}

TEST(RowByRow, ConstantsOfAnObjectiveAreDeclared) {
  torch::manual_seed(4);
  nn::Linear* layer = nullptr;
  const Tensor weights = torch::tensor({1.0f, 3.0f});
  const Objective weighted = [&](const Tensor& x, const Tensor& y) {
    return torch::nll_loss(torch::log_softmax((*layer)(x), 1), y, weights, at::Reduction::None);
  };
  Attempt without(NoiseKind::exact, weighted);
  layer = &without.layer;
  EXPECT_NE(
      refusal<NotRowWise>([&] { without.trainer.prepare(clouds(60)); }).find("unknown origin"),
      std::string::npos);
  Attempt with(NoiseKind::exact, weighted, {.constants = {weights}});
  layer = &with.layer;
  EXPECT_EQ(refusal<Error>([&] { with.trainer.prepare(clouds(60)); }), "");
}

}  // namespace sotto::deep::row_by_row_test
