// Whole training runs on neighbouring records with one tape of randomness, and records that must
// not matter.
#include <limits>

#include "sotto/core/record_replay.hpp"
#include "sotto/deep/training/training_case_test.hpp"

namespace sotto::deep::replay_test {

constexpr float kNotANumber = std::numeric_limits<float>::quiet_NaN();

Records with_one_more(const Records& a, float value, std::int64_t target) {
  return {torch::cat({a.inputs(), torch::full({1, 4}, value)}),
          torch::cat({a.targets(), torch::full({1}, target, torch::kLong)})};
}
Records with_another(const Records& a, std::int64_t which, float value, std::int64_t target) {
  auto inputs = a.inputs().clone(), targets = a.targets().clone();
  inputs[which] = torch::full({4}, value);
  targets[which] = target;
  return {inputs, targets};
}

struct Case {
  Records neighbour;
  Relation relation;
  Sampling sampling;
};

std::function<std::optional<Event>(Rng&)> run_on(const Records& records, const Case& c,
                                                 NoiseKind noise, bool adaptive,
                                                 Tensor* weights = nullptr) {
  return [=](Rng& rng) -> std::optional<Event> {
    Network network = small_network();
    PlanOptions options = small_plan(network, 60);
    options.relation = c.relation;
    options.sampling = c.sampling;
    options.noise = noise;
    if (adaptive) options.adaptive.emplace();
    Trainer trainer(*network, DpSgdPlan(options), objective_of(network), {.physical_batch = 7});
    trainer.fit(records, rng);
    if (weights != nullptr) *weights = flatten(trainable_parameters(*network));
    return trainer.event();
  };
}

TEST(Trainer, AWholeRunOnNeighboursStaysWithinItsSensitivities) {
  const Records a = clouds(60);
  const std::vector<Case> cases = {
      {with_one_more(a, 50, 0), Relation::add_remove, Sampling::poisson},
      {with_one_more(a, 50, 0), Relation::add_remove, Sampling::full_batch},
      {with_one_more(a, kNotANumber, 0), Relation::add_remove, Sampling::poisson},
      {with_one_more(a, 3, 17), Relation::add_remove, Sampling::full_batch},
      {with_another(a, 17, kNotANumber, 0), Relation::zero_out, Sampling::poisson},
      {with_another(a, 17, kNotANumber, 0), Relation::zero_out, Sampling::without_replacement},
      {with_another(a, 17, -80, 1), Relation::replace_one, Sampling::without_replacement},
      {with_another(a, 17, -80, 1), Relation::replace_one, Sampling::poisson},
      {with_another(a, 3, kNotANumber, 1), Relation::replace_one, Sampling::full_batch},
      {with_another(a, 3, 2, -5), Relation::replace_one, Sampling::full_batch}};
  for (const NoiseKind noise : {NoiseKind::bulk, NoiseKind::exact}) {
    for (const bool adaptive : {false, true}) {
      for (const Case& c : cases) {
        if (adaptive && (noise == NoiseKind::exact || c.relation == Relation::replace_one))
          continue;  // refused by the plan
        if (noise == NoiseKind::exact && c.relation == Relation::replace_one &&
            c.sampling == Sampling::poisson)
          continue;  // this as well
        EXPECT_EQ(replay::check_neighbours(run_on(a, c, noise, adaptive),
                                           run_on(c.neighbour, c, noise, adaptive)),
                  "")
            << name(c.relation) << " " << name(c.sampling) << " " << name(noise) << " " << adaptive;
      }
    }
  }
}

// What leaves is a function of what was published: with the first run's results put in place of the
// second's, both end alike.
TEST(Trainer, ReleasesNothingBesideItsNoisedQueries) {
  const Records a = clouds(60);
  const Case c{with_one_more(a, 50, 0), Relation::add_remove, Sampling::poisson};
  for (const NoiseKind noise : {NoiseKind::bulk, NoiseKind::exact}) {
    for (const bool adaptive : {false, true}) {
      if (adaptive && noise == NoiseKind::exact) continue;
      Tensor first, second;
      const auto recording = replay::record(5, run_on(a, c, noise, adaptive, &first));
      EXPECT_EQ(recording.queries.size(), adaptive ? 12u : 6u);
      replay::record(5, run_on(c.neighbour, c, noise, adaptive, &second), &recording);
      EXPECT_TRUE(torch::equal(first, second)) << name(noise);
    }
  }
}

TEST(Trainer, TheReplayCatchesASumClippedToMoreThanItsNoiseIsFor) {
  const Records a = clouds(60), b = with_one_more(a, 50, 0);
  for (const NoiseKind kind : {NoiseKind::bulk, NoiseKind::exact}) {
    const auto run = [&](const Records& records, double clipped_to) {
      return [&records, clipped_to, kind](Rng& rng) -> std::optional<Event> {
        Network network = small_network();
        ClippedSum sum(*network, {.norm = clipped_to});
        const Batch all = records.range(0, records.size());
        sum.add({all.inputs, all.targets},
                [&] { return softmax_cross_entropy(network->forward(all.inputs), all.targets); });
        GradientNoise(kind, 1, Relation::add_remove, count_parameters(*network))
            .add(sum.flat(), 0.5, rng);
        return std::nullopt;
      };
    };
    EXPECT_EQ(replay::check_neighbours(run(a, 0.5), run(b, 0.5)), "");
    EXPECT_NE(replay::check_neighbours(run(a, 0.6), run(b, 0.6)), "") << name(kind);
  }
}

TEST(Trainer, ARecordThatIsNotFiniteOrHasNoDeclaredClassChangesNothing) {
  const Records a = clouds(60);
  const auto trained = [](const Records& records) {
    Network network = small_network();
    PlanOptions options = small_plan(network, 60);
    options.sampling = Sampling::full_batch;
    Trainer trainer(*network, DpSgdPlan(options), objective_of(network), {.insecure_seed = 3});
    Rng rng = Rng::insecure_seed(1);
    trainer.fit(records, rng);
    return flatten(trainable_parameters(*network));
  };
  const Tensor without = trained(a);
  for (const Records& b : {with_one_more(a, kNotANumber, 1), with_one_more(a, 1, 2),
                           with_one_more(a, 1, -3), with_one_more(a, HUGE_VALF, 0)})
    EXPECT_TRUE(torch::allclose(trained(b), without, 1e-5, 1e-6));
  EXPECT_FALSE(torch::allclose(trained(with_one_more(a, 1, 1)), without, 1e-5, 1e-6));
}

// How many records there are is private under add_remove: none at all is a data set too.
TEST(Trainer, NoRecordsAtAllAreARun) {
  const Records none(torch::zeros({0, 4}), torch::zeros({0}, torch::kLong));
  for (const Sampling sampling : {Sampling::poisson, Sampling::full_batch}) {
    for (const NoiseKind noise : {NoiseKind::bulk, NoiseKind::exact}) {
      Network network = small_network();
      PlanOptions options = small_plan(network, 60);
      options.sampling = sampling;
      options.noise = noise;
      Trainer trainer(*network, DpSgdPlan(options), objective_of(network));
      Rng rng = Rng::insecure_seed(1);
      trainer.fit(none, rng);
      EXPECT_EQ(trainer.done(), 6u);
    }
  }
}

// The worked example of back-propagation, by the trainer: a linear network 2-2-1, one record, step
// 0.05, noise that rounds to nothing.
TEST(Trainer, BackPropagationExample) {
  torch::nn::Sequential network(torch::nn::Linear(torch::nn::LinearOptions(2, 2).bias(false)),
                                torch::nn::Linear(torch::nn::LinearOptions(2, 1).bias(false)));
  auto parameters = network->parameters();
  {
    const torch::NoGradGuard no_grad;
    parameters[0].copy_(torch::tensor({{0.10f, 0.20f}, {0.05f, 0.15f}}));
    parameters[1].copy_(torch::tensor({{0.08f, 0.12f}}));
  }
  const Records records(torch::tensor({{1.0f, 2.0f}}), torch::tensor({{1.0f}}));
  const DpSgdPlan plan({.records = 1,
                        .sampling = Sampling::full_batch,
                        .steps = 1,
                        .clip = 1e3,
                        .noise_multiplier = 1e-9,
                        .delta = 1e-5});
  Trainer trainer(
      *network, plan,
      [&](const Tensor& x, const Tensor& y) { return squared_loss(network->forward(x), y); },
      {.optimizer = {.learning_rate = 0.05, .momentum = 0}});
  Rng rng = Rng::insecure_seed(1);
  trainer.fit(records, rng);
  const torch::NoGradGuard no_grad;
  EXPECT_TRUE(
      torch::allclose(parameters[0], torch::tensor({{0.104f, 0.207f}, {0.056f, 0.161f}}), 0, 6e-4));
  EXPECT_TRUE(torch::allclose(parameters[1], torch::tensor({{0.103f, 0.136f}}), 0, 6e-4));
  EXPECT_NEAR(network->forward(records.inputs()).item<float>(), 0.105, 6e-4);
}

}  // namespace sotto::deep::replay_test
