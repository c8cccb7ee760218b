// What 32-bit arithmetic may not do: let one record change a bit of another one's part, or let a
// long sum drift.
#include <limits>

#include "sotto/deep/detail/probe.hpp"
#include "sotto/deep/training/alike_sizes.hpp"
#include "sotto/deep/training/training_case_test.hpp"

namespace sotto::deep::rounding_test {

namespace nn = torch::nn;

Batch made_up(std::vector<std::int64_t> shape) {
  const std::int64_t rows = shape.front();
  return {torch::randn(shape), torch::randint(3, {rows}, torch::kLong)};
}

TEST(RowsAreApart, InLayersOfEveryKind) {
  torch::manual_seed(1);
  const auto apart = [](nn::Sequential model, const Batch& b) {
    return rows_are_apart(*model, b.tensors(), of_two([&](const Tensor& x, const Tensor& y) {
      return softmax_cross_entropy(model->forward(x), y);
    }),
                          {.double_sums = true});
  };
  EXPECT_TRUE(
      apart(nn::Sequential(nn::Linear(70, 33), nn::ReLU(), nn::Linear(33, 3)), made_up({37, 70})));
  EXPECT_TRUE(apart(nn::Sequential(nn::Conv2d(2, 5, 3), nn::Tanh(), nn::MaxPool2d(2), nn::Flatten(),
                                   nn::Linear(45, 3)),
                    made_up({19, 2, 8, 8})));
  EXPECT_TRUE(apart(nn::Sequential(nn::Linear(6, 8), nn::LayerNorm(nn::LayerNormOptions({8})),
                                   nn::GELU(), nn::Linear(8, 3)),
                    made_up({64, 6})));
}

// One part in a million of another record, read past the operations: far below the tolerance of the
// probe, and not hidden from this one.
struct FaintImpl : nn::Module {
  FaintImpl() : fc(6, 3) { register_module("fc", fc); }
  Tensor forward(const Tensor& x) {
    const auto h = fc(x);
    return h + 1e-6 * x.data_ptr<float>()[0];
  }
  nn::Linear fc;
};
TORCH_MODULE(Faint);

TEST(RowsAreApart, NotWhereTheBatchShinesThrough) {
  torch::manual_seed(2);
  Faint model;
  const Batch b = made_up({16, 6});
  EXPECT_FALSE(rows_are_apart(*model, b.tensors(), of_two([&](const Tensor& x, const Tensor& y) {
    return softmax_cross_entropy(model->forward(x), y);
  })));
}

TEST(AlikeSizes, AreFoundForLayersOfEveryKind) {
  torch::manual_seed(3);
  const auto alike = [](nn::Sequential model, const Batch& b) {
    return alike_sizes(*model, b.tensors(), of_two([&](const Tensor& x, const Tensor& y) {
      return softmax_cross_entropy(model->forward(x), y);
    }),
                       {.double_sums = true}, {64, 96, 128});
  };
  EXPECT_EQ(
      alike(nn::Sequential(nn::Linear(70, 33), nn::ReLU(), nn::Linear(33, 3)), made_up({128, 70}))
          .back(),
      128);
  EXPECT_EQ(
      alike(nn::Sequential(nn::Conv2d(2, 5, 3), nn::Tanh(), nn::Flatten(), nn::Linear(180, 3)),
            made_up({128, 2, 8, 8}))
          .back(),
      128);
}

TEST(AlikeSizes, AreNotFoundWhereRowsOrTheirNumberMatter) {
  torch::manual_seed(5);
  nn::Linear fc(6, 3);
  const Batch b = made_up({128, 6});
  const auto alike = [&](const std::function<Tensor(const Tensor&)>& inputs) {
    return alike_sizes(*fc, b.tensors(), of_two([&](const Tensor& x, const Tensor& y) {
      return softmax_cross_entropy(fc->forward(inputs(x)), y);
    }),
                       {.double_sums = true}, {64, 128});
  };
  EXPECT_TRUE(
      alike([](const Tensor& x) { return x * torch::arange(x.size(0)).unsqueeze(1); }).empty());
  EXPECT_LE(alike([](const Tensor& x) { return x / static_cast<double>(x.size(0)); }).size(), 1u);
}

// Sums of single terms in chunks of floats: what a record adds or replaces stays within its clip
// norm, whatever the others round to.
TEST(ClippedSum, ChunksOfFloatsMoveByNoMoreThanARecord) {
  torch::manual_seed(6);
  auto fc = torch::nn::Linear(50, 7);
  const std::int64_t rows = 480;
  // All alike: every rounding goes the same way.
  const auto x = torch::full({rows, 50}, 0.3f) + 1e-4 * torch::randn({rows, 50});
  const auto y = torch::zeros({rows}, torch::kLong);
  ClippedSum sum(*fc, {.norm = 1, .double_sums = true});
  const auto of = [&](const Tensor& inputs) {
    sum.clear();
    sum.add({inputs, y}, [&] { return softmax_cross_entropy(fc->forward(inputs), y); });
    return sum.flat().clone();
  };
  const Tensor all = of(x);
  for (const std::int64_t row : {0, 159, 160, 479}) {
    const auto with = [&](float value) {
      auto other = x.clone();
      other[row].fill_(value);
      return of(other);
    };
    EXPECT_LE((all - with(-40)).norm().item<double>(), 2.0);
    const Tensor none = with(NAN);  // contributes nothing
    EXPECT_LE((all - none).norm().item<double>(), 1.0);
    EXPECT_LE((none - with(1e30f)).norm().item<double>(), 1.0);
    EXPECT_LE((none - with(1e-30f)).norm().item<double>(), 1.0);
  }
}

// A way to a norm that fits few rows only must not be taken when there happen to be few: ways
// differ in what they charge.
TEST(ClippedSum, TheNumberOfRowsDoesNotChooseTheWayToANorm) {
  torch::manual_seed(7);
  nn::Linear fc(4, 4);  // 64 bytes a record, written out
  const auto norm_in = [&](std::int64_t records, std::int64_t rows) {
    torch::manual_seed(8);
    const auto row =
        torch::randn({1, 60, 4});  // so many terms that writing out is the cheapest way
    const auto x = row.expand({records, 60, 4}).contiguous(), y = torch::zeros({records, 60, 4});
    ClippedSum sum(*fc, {.norm = 1, .memory = 64 * 20, .rows = rows});
    sum.add({x, y}, [&] { return squared_loss(fc->forward(x), y).reshape({records, -1}).sum(1); });
    return sum.private_norms().front();
  };
  EXPECT_NE(norm_in(4, 0), norm_in(40, 0));  // the trap is one
  EXPECT_EQ(norm_in(4, 40), norm_in(40, 40));
}

PlanOptions exact_plan(const Network& network, std::uint64_t records) {
  PlanOptions options = small_plan(network, records);
  options.batch = 64;
  options.noise = NoiseKind::exact;
  return options;
}

// A record that teaches nothing is there or not: with exact noise the others are computed alike to
// the last bit, wherever it would sit.
TEST(Trainer, WithExactNoiseARecordMoreChangesNoBitOfTheOthers) {
  const Records a = clouds(200);
  const Records b(torch::cat({a.inputs(), torch::full({3, 4}, NAN)}),
                  torch::cat({a.targets(), torch::zeros({3}, torch::kLong)}));
  const auto trained = [](const Records& records, Sampling sampling, std::int64_t physical) {
    Network network = small_network(1, {33, 17});
    PlanOptions options = exact_plan(network, 200);
    options.sampling = sampling;
    Trainer trainer(*network, DpSgdPlan(options), objective_of(network),
                    {.physical_batch = physical, .insecure_seed = 3});
    Rng rng = Rng::insecure_seed(1);
    trainer.fit(records, rng);
    EXPECT_TRUE(trainer.rounding_is_proved());
    EXPECT_EQ(trainer.row_sizes().most > 0, physical > 29) << "in sizes that are alike";
    return flatten(trainable_parameters(*network));
  };
  for (const Sampling sampling : {Sampling::poisson, Sampling::full_batch}) {
    EXPECT_TRUE(torch::equal(trained(a, sampling, 29), trained(b, sampling, 29))) << name(sampling);
    // In batches of other sizes somebody may have moved, and two chunks of floats be rounded
    // otherwise.
    EXPECT_TRUE(torch::allclose(trained(a, sampling, 100), trained(b, sampling, 100), 0, 1e-6))
        << name(sampling);
  }
}

// Records that are all alike make every rounding of a 32-bit sum go the same way; in double the sum
// is what it should be.
TEST(ClippedSum, DoubleSumsDoNotDrift) {
  const std::int64_t records = 3000;
  nn::Sequential model(nn::Linear(3, 2));
  const auto x = torch::full({records, 3}, 0.1f), y = torch::full({records, 2}, 0.7f);
  const auto error = [&](bool doubles) {
    ClippedSum all(*model, {.norm = 0.3, .double_sums = doubles}),
        one(*model, {.norm = 0.3, .double_sums = doubles});
    all.add({x, y}, [&] { return squared_loss(model->forward(x), y); });
    const auto x0 = x.narrow(0, 0, 1), y0 = y.narrow(0, 0, 1);
    one.add({x0, y0}, [&] { return squared_loss(model->forward(x0), y0); });
    const auto expected = one.flat().to(torch::kDouble) * static_cast<double>(records);
    return (all.flat().to(torch::kDouble) - expected).norm().item<double>() / 0.3;
  };
  EXPECT_GT(error(false), 1e-3);  // the trap is one
  // A record alone is a batch of one row, which rounds its gradient otherwise; chunks of rows are
  // added up in floats.
  EXPECT_LT(error(true), 1e-3);
}

// The pass that adds noise and descends is the noise first and the descent later.
TEST(Trainer, NoiseOnTheWayIsNoiseFirst) {
  struct Listener : QueryObserver {
    RandomSource* begin(const NoisedQuery&, std::uint64_t) override {
      ++queries;
      return nullptr;
    }
    void publish(Values) override {}
    void end() override {}
    int queries = 0;
  } listener;
  const Records records = clouds(200);
  const auto trained = [&](NoiseKind noise, double momentum, std::int64_t physical, bool watched) {
    Network network = small_network();
    PlanOptions options = small_plan(network);
    options.noise = noise;
    Trainer trainer(*network, DpSgdPlan(options), objective_of(network),
                    {.optimizer = {.learning_rate = 0.5, .momentum = momentum, .radius = 1.5},
                     .physical_batch = physical});
    Rng rng = Rng::insecure_seed(4);
    if (watched) rng.watch(&listener);
    trainer.fit(records, rng);
    return flatten(trainable_parameters(*network));
  };
  for (const NoiseKind noise : {NoiseKind::bulk, NoiseKind::exact})
    for (const double momentum : {0.0, 0.9})
      for (const std::int64_t physical : {64, 7}) {
        listener.queries = 0;
        const Tensor first = trained(noise, momentum, physical, true);
        EXPECT_EQ(listener.queries, 6);
        EXPECT_TRUE(torch::allclose(trained(noise, momentum, physical, false), first, 1e-5, 1e-6));
      }
}

}  // namespace sotto::deep::rounding_test
