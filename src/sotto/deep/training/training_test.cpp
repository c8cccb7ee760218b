// The trainer as a whole: what runs is what is accounted, and nothing else leaves.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <torch/script.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "sotto/accounting/account.hpp"
#include "sotto/core/error.hpp"
#include "sotto/deep/training/checkpoint.hpp"
#include "sotto/deep/training/detail/memory.hpp"
#include "sotto/deep/training/training_case_test.hpp"
#include "support/statistics.hpp"

namespace sotto::deep::training_test {

// ---- samplers

// ---- plans

TEST(DpSgdPlan, TheEventIsTheSamplerTheNoiseAndTheSteps) {
  PlanOptions options = small_plan(small_network());
  const DpSgdPlan plan(options);
  EXPECT_EQ(plan.event(), repeat(poisson_sampled(GaussianEvent::from_multiplier(1.0), 0.1), 6));
  EXPECT_EQ(plan.event(2), repeat(poisson_sampled(GaussianEvent::from_multiplier(1.0), 0.1), 2));
  options.sampling = Sampling::full_batch;
  EXPECT_EQ(DpSgdPlan(options).event(), repeat(GaussianEvent::from_multiplier(1.0), 6));
  options.sampling = Sampling::without_replacement;
  EXPECT_NE(refusal<Unsupported>([&] { DpSgdPlan p(options); }), "");
  options.relation = Relation::replace_one;
  const Event sampled = SampledEvent{.scheme = Scheme::without_replacement,
                                     .size = 20,
                                     .population = 200,
                                     .event = share(GaussianEvent::from_multiplier(1.0))};
  EXPECT_EQ(DpSgdPlan(options).event(), repeat(sampled, 6));
}

TEST(DpSgdPlan, CalibratedNoiseMeetsTheBudgetAndNotMuchLess) {
  for (const NoiseKind kind : {NoiseKind::bulk, NoiseKind::exact}) {
    PlanOptions options = small_plan(small_network());
    options.noise_multiplier.reset();
    options.epsilon = 2;
    options.noise = kind;
    const DpSgdPlan plan(options);
    const double epsilon = plan.epsilon(plan.steps(), 1e-5).upper;
    EXPECT_LE(epsilon, 2);
    EXPECT_GT(epsilon, 1.99);
  }
}

// Whatever is asked of the defaults, they find noise that meets the budget.
TEST(DpSgdPlan, TheDefaultNoiseIsAccountedForUnderEveryRelation) {
  for (const Relation relation :
       {Relation::add_remove, Relation::replace_one, Relation::zero_out}) {
    for (const Sampling sampling :
         {Sampling::poisson, Sampling::without_replacement, Sampling::full_batch}) {
      if (is_fixed(sampling) && !count_is_public(relation)) continue;
      PlanOptions options = small_plan(small_network(), 2000);
      options.relation = relation;
      options.sampling = sampling;
      options.noise_multiplier.reset();
      options.epsilon = 2;
      options.noise = default_noise(options);
      const double epsilon = DpSgdPlan(options).epsilon(6, 1e-5).upper;
      EXPECT_LE(epsilon, 2) << name(relation) << ' ' << name(sampling);
      EXPECT_GT(epsilon, 1.95) << name(relation) << ' ' << name(sampling);
    }
  }
  PlanOptions options = small_plan(small_network());
  EXPECT_EQ(default_noise(options), NoiseKind::exact);
  options.relation = Relation::replace_one;
  EXPECT_EQ(default_noise(options), NoiseKind::bulk);
  options.noise = NoiseKind::exact;
  EXPECT_NE(refusal<Unsupported>([&] { DpSgdPlan p(options); }).find("replace_one"),
            std::string::npos);
}

TEST(DpSgdPlan, GivenNoiseStopsAtTheBudget) {
  PlanOptions options = small_plan(small_network());
  options.steps = 1000;
  options.epsilon = 8;
  const DpSgdPlan plan(options);
  EXPECT_LT(plan.steps(), 1000u);
  EXPECT_LE(plan.epsilon(plan.steps(), 1e-5).upper, 8);
  EXPECT_GT(plan.epsilon(plan.steps() + 1, 1e-5, {.tolerance = 1e-4}).upper, 8);
  options.noise_multiplier = 0.01;
  EXPECT_NE(refusal<BudgetExceeded>([&] { DpSgdPlan p(options); }), "");
}

TEST(DpSgdPlan, AdaptiveClippingPaysForItsCount) {
  PlanOptions options = small_plan(small_network());
  options.adaptive = AdaptiveClippingOptions{.count_noise = 3};
  const DpSgdPlan plan(options);
  EXPECT_GT(plan.gradient_multiplier(), 1.0);
  EXPECT_NEAR(1 / std::pow(plan.gradient_multiplier(), 2) + 1 / std::pow(3 / 0.5, 2), 1.0, 1e-12);
  const double together = plan.epsilon(6, 1e-5).upper;
  options.adaptive.reset();
  EXPECT_NEAR(together, DpSgdPlan(options).epsilon(6, 1e-5).upper, 1e-6);
}

// ---- training

TEST(Trainer, RunsThePlannedStepsAndNoMore) {
  Network network = small_network();
  Trainer trainer(*network, DpSgdPlan(small_plan(network)), objective_of(network));
  Rng rng = Rng::insecure_seed(1);
  const Records records = clouds(200);
  EXPECT_EQ(trainer.epsilon(1e-5).upper, 0);
  trainer.step(records, rng);
  const double one = trainer.epsilon(1e-5).upper;
  EXPECT_EQ(one, trainer.plan()->epsilon(1, 1e-5).upper);
  trainer.fit(records, rng);
  EXPECT_EQ(trainer.done(), 6u);
  EXPECT_GT(trainer.epsilon(1e-5).upper, one);
  EXPECT_EQ(trainer.release().event, trainer.plan()->event());
  EXPECT_NE(refusal<BudgetExceeded>([&] { trainer.step(records, rng); }).find("planned steps"),
            std::string::npos);
}

// A trainer whose divisor or noise followed the data would show here.
TEST(Trainer, DivisorAndNoiseDoNotChangeWhenARecordIsAdded) {
  Network network = small_network();
  const DpSgdPlan plan(small_plan(network, 60));
  EXPECT_EQ(plan.expected_batch(), 20);
  for (const std::int64_t n : {60, 61, 90}) {
    Network fresh = small_network();
    Trainer trainer(*fresh, DpSgdPlan(small_plan(fresh, 60)), objective_of(fresh),
                    {.optimizer = {.learning_rate = 1, .momentum = 0}, .physical_batch = 64});
    // With all inputs not finite every record contributes zero: what is left is noise over the
    // divisor.
    const Records empty(torch::full({n, 4}, std::numeric_limits<float>::quiet_NaN()),
                        torch::zeros({n}, torch::kLong));
    const Tensor before = flatten(trainable_parameters(*fresh));
    Rng rng = Rng::insecure_seed(11);
    trainer.step(empty, rng);
    const Tensor moved = flatten(trainable_parameters(*fresh)) - before;
    static Tensor first;
    if (n == 60) first = moved;
    EXPECT_TRUE(torch::equal(first, moved)) << n;
    EXPECT_NEAR(moved.norm().item<double>(), 0.5 / 20 * std::sqrt(moved.numel()), 0.5 / 20 * 3);
  }
}

TEST(Trainer, WithoutNoiseItIsClippedGradientDescent) {
  const Records records = clouds(40);
  Network network = small_network(), reference = small_network();
  PlanOptions options = small_plan(network, 40);
  options.sampling = Sampling::full_batch;
  options.noise_multiplier = 1e-9;
  Trainer trainer(*network, DpSgdPlan(options), objective_of(network),
                  {.optimizer = {.learning_rate = 0.5, .momentum = 0.9}, .physical_batch = 9});
  Rng rng = Rng::insecure_seed(1);
  trainer.fit(records, rng);
  // One record at a time, clipped by hand.
  auto parameters = reference->parameters();
  std::vector<Tensor> velocity;
  for (const auto& p : parameters) velocity.push_back(torch::zeros_like(p));
  for (int step = 0; step < 6; ++step) {
    std::vector<Tensor> sum;
    for (const auto& p : parameters) sum.push_back(torch::zeros_like(p));
    for (std::int64_t i = 0; i < 40; ++i) {
      reference->zero_grad();
      const Batch b = records.range(i, 1);
      softmax_cross_entropy(reference->forward(b.inputs), b.targets).sum().backward();
      double square = 0;
      for (const auto& p : parameters) square += p.grad().square().sum().item<double>();
      const double factor = std::min(1.0, 0.5 / 1.01 / std::sqrt(square));
      for (std::size_t k = 0; k < sum.size(); ++k) sum[k].add_(parameters[k].grad(), factor);
    }
    const torch::NoGradGuard no_grad;
    for (std::size_t k = 0; k < sum.size(); ++k) {
      velocity[k].mul_(0.9).add_(sum[k] / 40);
      parameters[k].sub_(0.5 * velocity[k]);
    }
  }
  EXPECT_TRUE(torch::allclose(flatten(trainable_parameters(*network)),
                              flatten(trainable_parameters(*reference)), 1e-4, 1e-5));
}

TEST(Trainer, PhysicalBatchesDoNotChangeTheResult) {
  const Records records = clouds(100);
  std::vector<Tensor> results;
  for (const std::int64_t physical : {1, 3, 1000}) {
    Network network = small_network();
    PlanOptions options = small_plan(network, 100);
    options.noise = NoiseKind::exact;
    Trainer trainer(*network, DpSgdPlan(options), objective_of(network),
                    {.physical_batch = physical, .insecure_seed = 9});
    Rng rng = Rng::insecure_seed(1);
    trainer.fit(records, rng);
    results.push_back(flatten(trainable_parameters(*network)));
  }
  EXPECT_TRUE(torch::allclose(results[0], results[1], 1e-4, 1e-5));
  EXPECT_TRUE(torch::allclose(results[0], results[2], 1e-4, 1e-5));
}

TEST(Trainer, EmptyBatchesAreSteps) {
  Network network = small_network();
  PlanOptions options = small_plan(network, 1000000);
  options.batch = 0.001;  // practically always empty
  Trainer trainer(*network, DpSgdPlan(options), objective_of(network));
  Rng rng = Rng::insecure_seed(1);
  const Tensor before = flatten(trainable_parameters(*network));
  trainer.fit(clouds(10), rng);
  EXPECT_EQ(trainer.done(), 6u);
  EXPECT_GT((flatten(trainable_parameters(*network)) - before).norm().item<double>(), 0);
}

TEST(Trainer, WithAVastBudgetItReachesThePlainAccuracy) {
  const Records records = clouds(400), other = clouds(400, 2);
  Network plain = small_network(), priv = small_network();
  Rng rng = Rng::insecure_seed(1);
  const OptimizerOptions optimizer{.learning_rate = 0.5, .momentum = 0.9};
  Trainer a(*plain, PlainPlan{.records = 400, .batch = 100, .steps = 60}, objective_of(plain),
            {.optimizer = optimizer});
  a.fit(records, rng);
  EXPECT_FALSE(a.event());
  EXPECT_NE(refusal<Unsupported>([&] { a.release(); }).find("NOT PRIVATE"), std::string::npos);
  PlanOptions options = small_plan(priv, 400);
  options.batch = 100, options.steps = 60, options.clip = 2;
  options.noise_multiplier.reset(), options.epsilon = 1000;
  Trainer b(*priv, DpSgdPlan(options), objective_of(priv), {.optimizer = optimizer});
  b.fit(records, rng);
  EXPECT_GT(accuracy(plain, other), 0.97);
  EXPECT_GT(accuracy(priv, other), accuracy(plain, other) - 0.02);
}

TEST(Trainer, AdaptiveClippingFindsTheQuantileFromBothSides) {
  const Records records = clouds(400);
  for (const double start : {0.001, 100.0}) {
    Network network = small_network();
    PlanOptions options = small_plan(network, 400);
    options.batch = 200, options.steps = 150, options.clip = start;
    options.adaptive = AdaptiveClippingOptions{.quantile = 0.5, .rate = 0.3, .count_noise = 2};
    Trainer trainer(*network, DpSgdPlan(options), objective_of(network),
                    {.optimizer = {.learning_rate = 1e-6, .momentum = 0}});
    Rng rng = Rng::insecure_seed(4);
    trainer.fit(records, rng);
    ClippedSum sum(*network, {.norm = trainer.clip()});
    const Batch all = records.range(0, 400);
    sum.add({all.inputs, all.targets},
            [&] { return softmax_cross_entropy(network->forward(all.inputs), all.targets); });
    EXPECT_NEAR(static_cast<double>(sum.private_unclipped()) / 400, 0.5, 0.12) << start;
  }
}

// ---- noise

TEST(GradientNoise, HasTheStatedDeviationInBothKinds) {
  for (const NoiseKind kind : {NoiseKind::bulk, NoiseKind::exact}) {
    const GradientNoise noise(kind, 1.5, Relation::add_remove, 20000);
    Rng rng = Rng::insecure_seed(12);
    const Tensor z = noise.add(torch::zeros({20000}), 0.2, rng).to(torch::kDouble).contiguous();
    const std::vector<double> draws(z.data_ptr<double>(), z.data_ptr<double>() + z.numel());
    const auto cdf = [](double sigma) {
      return [sigma](double x) { return 0.5 * std::erfc(-x / sigma / std::sqrt(2.0)); };
    };
    EXPECT_GT(test::ks_p(draws, cdf(0.3)), test::kAlpha);
    EXPECT_LT(test::ks_p(draws, cdf(0.3 * 1.1)), test::kAlpha) << "a wrong scale must be noticed";
    EXPECT_LT(test::ks_p(draws, cdf(0.3 / 1.1)), test::kAlpha);
  }
}

TEST(GradientNoise, ExactNoiseLeavesWholeStepsWhateverTheSum) {
  const GradientNoise noise(NoiseKind::exact, 2, Relation::add_remove, 3);
  Rng rng = Rng::insecure_seed(2);
  const Tensor sum = torch::tensor({0.1234567, 1e-9, -3.3}, torch::kDouble);
  const Tensor z = noise.add(sum, 0.5, rng).to(torch::kDouble) * (0x1p26 / 0.5);
  EXPECT_TRUE(torch::equal(z, z.round()));
  const Event stated = noise.event(Relation::add_remove);
  const auto* event = stated.get_if<DiscreteGaussianEvent>();
  ASSERT_NE(event, nullptr);
  EXPECT_NEAR(event->sigma / event->sensitivity, 2, 1e-12);
  EXPECT_GT(event->sensitivity, 0x1p26) << "rounding is charged";
}

// ---- optimisers and iterates

TEST(Optimizer, AdamFollowsTheTextbook) {
  auto p = torch::tensor({1.0f, -2.0f});
  Optimizer adam({{"p", p}}, {.kind = OptimizerKind::adam, .learning_rate = 0.1}, 10);
  adam.step(torch::tensor({0.5f, -4.0f}), 0);  // the first step has size η whatever the gradient
  EXPECT_TRUE(torch::allclose(p, torch::tensor({0.9f, -1.9f}), 1e-4, 1e-4));
  Optimizer decay({{"p", p}},
                  {.kind = OptimizerKind::adamw, .learning_rate = 0.1, .weight_decay = 0.5}, 10);
  p.copy_(torch::tensor({1.0f, -2.0f}));
  decay.step(torch::tensor({0.5f, -4.0f}), 0);
  EXPECT_TRUE(torch::allclose(p, torch::tensor({0.85f, -1.8f}), 1e-4, 1e-4));
}

TEST(Optimizer, SchedulesAndProjection) {
  auto p = torch::tensor({3.0f, 4.0f});
  Optimizer o({{"p", p}},
              {.learning_rate = 1, .schedule = Schedule::cosine, .warmup = 0.2, .radius = 1}, 10);
  EXPECT_NEAR(o.rate(0), 0.5, 1e-12);
  EXPECT_NEAR(o.rate(5), 0.5, 1e-12);
  EXPECT_LT(o.rate(9), 0.05);
  o.step(torch::zeros({2}), 0);
  EXPECT_TRUE(torch::allclose(p, torch::tensor({0.6f, 0.8f})));
}

TEST(IterateTracker, AveragesTheSecondHalf) {
  auto p = torch::zeros({1});
  IterateTracker tracker(Iterate::average, 0.9, 4, {{"p", p}});
  for (std::uint64_t t = 1; t <= 4; ++t) {
    p.fill_(static_cast<float>(t));
    tracker.follow(t, {{"p", p}});
  }
  EXPECT_NEAR(tracker.value().item<float>(), 3.5, 1e-6);
}

// ---- files

TEST(Safetensors, RoundTripAndDamage) {
  TensorFile file{{{"a", torch::randn({3, 4})},
                   {"b", torch::tensor({1, 2, 3}, torch::kLong)},
                   {"empty", torch::zeros({0})}},
                  {{"k", "v"}}};
  const std::string bytes = to_safetensors(file);
  const TensorFile back = from_safetensors(bytes, "x");
  EXPECT_EQ(back.metadata, file.metadata);
  for (const auto& [key, tensor] : file.tensors)
    EXPECT_TRUE(torch::equal(back.tensors.at(key), tensor)) << key;
  for (std::size_t cut = 0; cut < bytes.size(); cut += 7)
    EXPECT_THROW(from_safetensors(std::string_view(bytes).substr(0, cut), "x"), DataError) << cut;
  EXPECT_THROW(from_safetensors(bytes + "x", "x"), DataError);
  std::string wild = bytes;
  wild[7] = '\x7f';
  EXPECT_THROW(from_safetensors(wild, "x"), DataError);
}

class CheckpointTest : public testing::Test {
 protected:
  std::string path_ =
      (std::filesystem::temp_directory_path() / ("sotto-checkpoint-" + std::to_string(getpid())))
          .string();
  void TearDown() override { std::filesystem::remove(path_); }
};

TEST_F(CheckpointTest, AResumedRunEqualsAnUninterruptedOne) {
  const Records records = clouds(100);
  Rng rng = Rng::insecure_seed(1);
  for (const Iterate iterate : {Iterate::last, Iterate::average, Iterate::ema}) {
    for (const OptimizerKind kind : {OptimizerKind::sgd, OptimizerKind::adam}) {
      const TrainerOptions options{.optimizer = {.kind = kind, .learning_rate = 0.05},
                                   .iterate = iterate,
                                   .physical_batch = 50,
                                   .insecure_seed = 77};
      const auto plan = [](Network& n) {
        PlanOptions p = small_plan(n, 100);
        p.adaptive.emplace();
        return DpSgdPlan(p);
      };
      Network whole = small_network();
      Trainer reference(*whole, plan(whole), objective_of(whole), options);
      reference.fit(records, rng);
      reference.release();
      for (std::uint64_t stop = 1; stop < 6; ++stop) {
        Network first = small_network();
        Trainer before(*first, plan(first), objective_of(first), options);
        before.fit(records, rng, [&](const Trainer& t) {
          if (t.done() == stop) save_checkpoint(path_, t, {{"key", "value"}});
          return t.done() < stop + 1;  // a step more, which is lost
        });
        Network second = small_network(99);
        Trainer after(*second, plan(second), objective_of(second), options);
        EXPECT_EQ(load_checkpoint(path_, after), (Notes{{"key", "value"}}));
        EXPECT_EQ(after.done(), stop);
        EXPECT_EQ(after.event(), after.plan()->event(stop)) << "neither lost nor counted twice";
        after.fit(records, rng);
        EXPECT_EQ(after.release().event, reference.plan()->event());
        EXPECT_TRUE(torch::equal(flatten(trainable_parameters(*second)),
                                 flatten(trainable_parameters(*whole))));
      }
    }
  }
}

TEST_F(CheckpointTest, NobodyElseMayReadIt) {
  Network network = small_network();
  Trainer trainer(*network, DpSgdPlan(small_plan(network)), objective_of(network));
  std::ofstream(path_) << "an old one, readable by all";
  std::filesystem::permissions(path_, std::filesystem::perms(0644));
  const mode_t mask = umask(0);
  save_checkpoint(path_, trainer, {});
  umask(mask);
  EXPECT_EQ(std::filesystem::status(path_).permissions(), std::filesystem::perms(0600));
}

TEST_F(CheckpointTest, RefusesChangedPrivacyParametersAndOtherModels) {
  const Records records = clouds(100);
  Rng rng = Rng::insecure_seed(1);
  Network network = small_network();
  Trainer trainer(*network, DpSgdPlan(small_plan(network, 100)), objective_of(network));
  trainer.step(records, rng);
  save_checkpoint(path_, trainer);
  const auto resume = [&](auto change, std::vector<std::int64_t> hidden = {5}) {
    Network other = small_network(1, hidden);
    PlanOptions options = small_plan(other, 100);
    change(options);
    Trainer again(*other, DpSgdPlan(options), objective_of(other));
    return refusal<VerificationFailed>([&] { load_checkpoint(path_, again); });
  };
  EXPECT_EQ(resume([](PlanOptions&) {}), "");
  EXPECT_NE(resume([](PlanOptions& o) { o.noise_multiplier = 1.1; }), "");
  EXPECT_NE(resume([](PlanOptions& o) { o.clip = 0.6; }), "");
  EXPECT_NE(resume([](PlanOptions& o) { o.batch = 25; }), "");
  EXPECT_NE(resume([](PlanOptions& o) { o.steps = 7; }), "");
  EXPECT_NE(resume([](PlanOptions& o) { o.records = 101; }), "");
  EXPECT_NE(resume([](PlanOptions& o) { o.noise = NoiseKind::exact; }), "");
  EXPECT_NE(resume([](PlanOptions&) {}, {6}), "");
  std::ofstream(path_, std::ios::app) << "x";
  Trainer again(*network, DpSgdPlan(small_plan(network, 100)), objective_of(network));
  EXPECT_NE(refusal<DataError>([&] { load_checkpoint(path_, again); }), "");
}

TEST_F(CheckpointTest, ATorchScriptProgramGivesTheSameAnswers) {
  Network network = small_network();
  std::istringstream bytes(to_torchscript(network));
  auto program = torch::jit::load(bytes);
  const auto x = torch::randn({3, 4});
  const torch::NoGradGuard no_grad;
  EXPECT_TRUE(torch::allclose(program.forward({x}).toTensor(), network->forward(x), 1e-5, 1e-6));
}

TEST_F(CheckpointTest, EveryActivationTrainsAndHasItsProgram) {
  const Records records = clouds(60);
  for (const char* activation : {"tanh", "relu", "sigmoid", "leaky_relu", "silu", "gelu"}) {
    Network network(NetworkOptions{.kind = NetworkKind::mlp,
                                   .input = {4},
                                   .outputs = 2,
                                   .hidden = {5},
                                   .activation = parse_activation(activation)});
    Trainer trainer(*network, DpSgdPlan(small_plan(network, 60)), objective_of(network));
    Rng rng = Rng::insecure_seed(1);
    trainer.fit(records, rng);
    std::istringstream bytes(to_torchscript(network));
    auto program = torch::jit::load(bytes);
    const auto x = torch::randn({3, 4});
    const torch::NoGradGuard no_grad;
    EXPECT_TRUE(torch::allclose(program.forward({x}).toTensor(), network->forward(x), 1e-5, 1e-6))
        << activation;
  }
  EXPECT_NE(refusal<InvalidArgument>([] { parse_activation("step"); }), "");
}

TEST_F(CheckpointTest, TheConvolutionalNetworkIsThatOfTheLiterature) {
  Network network(NetworkOptions{.kind = NetworkKind::cnn, .input = {1, 28, 28}, .outputs = 10});
  EXPECT_EQ(count_parameters(*network), 26010u);
  std::istringstream bytes(to_torchscript(network));
  auto program = torch::jit::load(bytes);
  const auto x = torch::rand({2, 1, 28, 28});
  const torch::NoGradGuard no_grad;
  EXPECT_TRUE(torch::allclose(program.forward({x}).toTensor(), network->forward(x), 1e-4, 1e-5));
}

TEST(Memory, CapsThePhysicalBatch) {
  Network network = small_network(1, {20000});  // some hundred kilobytes for each record
  const Records records = clouds(5000);
  Rng rng = Rng::insecure_seed(1);
  PlanOptions options = small_plan(network, 5000);
  options.batch = 1000, options.steps = 1;
  std::size_t peak[2];
  std::int64_t physical[2];
  for (const int wide : {0, 1}) {
    const std::size_t cap = wide ? std::size_t{2} << 30 : std::size_t{70} << 20;
    Trainer trainer(*network, DpSgdPlan(options), objective_of(network), {.memory = cap});
    peak[wide] = peak_memory([&] { trainer.step(records, rng); });
    physical[wide] = trainer.physical_batch();
    EXPECT_LE(static_cast<double>(peak[wide]), 1.3 * static_cast<double>(cap));
  }
  EXPECT_LT(physical[0], physical[1]);
  EXPECT_EQ(parse_bytes("2G"), std::size_t{2} << 30);
  EXPECT_EQ(parse_bytes("1.5K"), 1536u);
  EXPECT_THROW(parse_bytes("2 apples"), InvalidArgument);
}

}  // namespace sotto::deep::training_test
