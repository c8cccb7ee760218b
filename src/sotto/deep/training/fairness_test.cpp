// Clipping rules for fairness, and budgets of single records, in whole training runs: events,
// replay on neighbours, refusals.
#include <algorithm>
#include <limits>

#include "sotto/accounting/account.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/record_replay.hpp"
#include "sotto/deep/training/training_case_test.hpp"

namespace sotto::deep::fairness_test {

constexpr float kNotANumber = std::numeric_limits<float>::quiet_NaN();

enum class Rule { dpsgd_f, global, global_zero, bounded, individual, plain };
constexpr Rule kRules[] = {Rule::dpsgd_f, Rule::global, Rule::global_zero, Rule::bounded,
                           Rule::individual};

PlanOptions plan_for(Rule rule, const Network& network) {
  PlanOptions options = small_plan(network, 60);
  options.steps = 12;
  if (rule == Rule::plain) return options;
  if (rule == Rule::individual) {
    options.typical_norm = 0.4;
    return options;
  }
  options.adaptive.emplace();
  options.adaptive->count_noise = 4;
  if (rule == Rule::dpsgd_f) {
    options.adaptive->rule = AdaptiveRule::groups;
    options.adaptive->groups = 2;
  } else if (rule == Rule::bounded) {
    options.adaptive->smallest = 0.3;
  } else {
    options.adaptive->quantile = 0.9;
    options.adaptive->rescale = true;
  }
  return options;
}

TrainerOptions trainer_for(Rule rule) {
  TrainerOptions options{.physical_batch = 7};
  options.zero_above = rule == Rule::global_zero;
  if (rule == Rule::dpsgd_f) options.group_of = [](const Batch& b) { return b.targets; };
  return options;
}

std::function<std::optional<Event>(Rng&)> run_on(const Records& records, Rule rule,
                                                 Relation relation, Sampling sampling,
                                                 Tensor* weights = nullptr) {
  return [=](Rng& rng) -> std::optional<Event> {
    Network network = small_network();
    PlanOptions options = plan_for(rule, network);
    options.relation = relation;
    options.sampling = sampling;
    Trainer trainer(*network, DpSgdPlan(options), objective_of(network), trainer_for(rule));
    trainer.fit(records, rng);
    if (weights != nullptr) *weights = flatten(trainable_parameters(*network));
    return trainer.event();
  };
}

struct Pair {
  Records neighbour;
  Relation relation;
};

std::vector<Pair> neighbours_of(const Records& a) {
  const auto more = [&](float value, std::int64_t target) {
    return Records(torch::cat({a.inputs(), torch::full({1, 4}, value)}),
                   torch::cat({a.targets(), torch::full({1}, target, torch::kLong)}));
  };
  auto inputs = a.inputs().clone();
  inputs[17] = torch::full({4}, kNotANumber);
  return {{more(50, 0), Relation::add_remove},
          {more(-50, 1), Relation::add_remove},
          {more(1, 17), Relation::add_remove},
          {Records(inputs, a.targets()), Relation::zero_out}};
}

TEST(FairTraining, WholeRunsOnNeighboursStayWithinTheirSensitivities) {
  const Records a = clouds(60);
  for (const Rule rule : kRules) {
    for (const Sampling sampling : {Sampling::poisson, Sampling::full_batch}) {
      for (const Pair& pair : neighbours_of(a)) {
        if (sampling == Sampling::full_batch && pair.relation == Relation::zero_out) continue;
        EXPECT_EQ(replay::check_neighbours(run_on(a, rule, pair.relation, sampling),
                                           run_on(pair.neighbour, rule, pair.relation, sampling)),
                  "")
            << static_cast<int>(rule) << " " << name(pair.relation) << " " << name(sampling);
      }
    }
  }
}

TEST(FairTraining, NothingLeavesBesideTheNoisedQueries) {
  const Records a = clouds(60);
  const Records b = neighbours_of(a).front().neighbour;
  for (const Rule rule : kRules) {
    Tensor first, second;
    const auto recording =
        replay::record(5, run_on(a, rule, Relation::add_remove, Sampling::poisson, &first));
    EXPECT_EQ(recording.queries.size(), rule == Rule::individual ? 12u : 24u);
    replay::record(5, run_on(b, rule, Relation::add_remove, Sampling::poisson, &second),
                   &recording);
    EXPECT_TRUE(torch::equal(first, second)) << static_cast<int>(rule);
  }
}

TEST(FairTraining, CountsOfGroupsAreInTheEventOfEveryStep) {
  const Network network = small_network();
  const DpSgdPlan plan(plan_for(Rule::dpsgd_f, network));
  const DpSgdPlan plain(small_plan(network, 60));
  EXPECT_GT(plan.gradient_multiplier(), plan.noise_multiplier());
  // 1/z² = 1/z_g² + 1/σ², one record being in one cell.
  EXPECT_NEAR(1 / (plan.noise_multiplier() * plan.noise_multiplier()),
              1 / (plan.gradient_multiplier() * plan.gradient_multiplier()) + 1 / (4.0 * 4.0),
              1e-12);
  const auto& repeated = std::get<RepeatEvent>(plan.event().kind());
  const auto& sampled = std::get<SampledEvent>(repeated.event->kind());
  EXPECT_EQ(std::get<ComposeEvent>(sampled.event->kind()).events.size(), 2u);
  EXPECT_NEAR(plan.epsilon(6, 1e-5).upper, plain.epsilon(6, 1e-5).upper, 0.01);
}

// A group whose gradients are long gets more room, and the noise is that of the largest threshold.
TEST(FairTraining, AGroupWithLongGradientsGetsMoreRoom) {
  Rng rng = Rng::insecure_seed(1);
  const AdaptiveClipping clip(
      {.rule = AdaptiveRule::groups, .rate = 0.5, .count_noise = 2, .groups = 3}, 300);
  std::vector<double> norms(3, 1.0);
  const std::vector<std::int64_t> counts = {90, 10, 10, 90, 0, 0};  // long, short, nobody
  for (int step = 0; step < 40; ++step) norms = clip.update_groups(rng, norms, 1.0, counts);
  EXPECT_NEAR(norms[0], 0.5 * (1 + 0.9 / 0.5), 0.1);
  EXPECT_NEAR(norms[1], 0.5 * (1 + 0.1 / 0.5), 0.1);
  EXPECT_NEAR(norms[2], 1, 0.25) << "lost in the noise: the common threshold";
  const std::vector<std::int64_t> one = {100, 0, 0, 900, 0, 0};
  for (int step = 0; step < 60; ++step) norms = clip.update_groups(rng, norms, 1.0, one);
  EXPECT_LE(norms[0], AdaptiveClipping::kMostRoom);
  EXPECT_GT(norms[0], 2);
}

TEST(FairTraining, TheReplayCatchesNoiseForASmallerThresholdThanTheLargest) {
  const Records a = clouds(60), b = neighbours_of(a).front().neighbour;
  const auto run = [&](const Records& records, double noise_for) {
    return [&records, noise_for](Rng& rng) -> std::optional<Event> {
      Network network = small_network();
      ClippedSum sum(*network, {.norm = 0.9});
      const Batch all = records.range(0, records.size());
      std::vector<double> thresholds;
      for (std::int64_t i = 0; i < records.size(); ++i)
        thresholds.push_back(all.targets[i].item<std::int64_t>() == 0 ? 0.9 : 0.3);
      sum.add(
          {all.inputs, all.targets},
          [&] { return softmax_cross_entropy(network->forward(all.inputs), all.targets); }, {},
          thresholds);
      GradientNoise(NoiseKind::bulk, 1, Relation::add_remove, count_parameters(*network))
          .add(sum.flat(), noise_for, rng);
      return std::nullopt;
    };
  };
  EXPECT_EQ(replay::check_neighbours(run(a, 0.9), run(b, 0.9)), "");
  EXPECT_NE(replay::check_neighbours(run(a, 0.6), run(b, 0.6)), "") << "a mean of thresholds";
}

TEST(FairTraining, BoundedThresholdsStayAboveTheirFloor) {
  Network network = small_network();
  Trainer trainer(*network, DpSgdPlan(plan_for(Rule::bounded, network)), objective_of(network),
                  trainer_for(Rule::bounded));
  Rng rng = Rng::insecure_seed(1);
  trainer.fit(clouds(60), rng, [](const Trainer& t) {
    EXPECT_GE(t.clip(), 0.3);
    return true;
  });
}

// What a record adds to the sums of all steps, with its own budget: never more than it pays for,
// however long its gradients are.
// The squared contributions of one record to all steps, in steps of full norm.
double contributed(const Records& a, const Pair& pair, Rule rule) {
  const auto run = [&](const Records& r) {
    return run_on(r, rule, pair.relation, Sampling::full_batch);
  };
  const auto first = replay::record(3, run(a));
  const auto second = replay::record(3, run(pair.neighbour), &first);
  double squares = 0;
  for (std::size_t t = 0; t < first.queries.size(); ++t) {
    const auto moved = static_cast<double>(
        replay::norm_of_difference(first.queries[t].values, second.queries[t].values, Norm::l2));
    squares += std::pow(moved / first.queries[t].sensitivity, 2);
  }
  return squares;
}

// However long its gradients are; without a filter, the same record is seen to give more.
TEST(IndividualTraining, ARecordsContributionsStayWithinItsBudget) {
  const Records a = clouds(60);
  const Network network = small_network();
  PlanOptions options = plan_for(Rule::individual, network);
  options.sampling = Sampling::full_batch;
  const double budget = DpSgdPlan(options).individual_budget().full_steps();
  double most = 0;
  for (const Pair& pair : neighbours_of(a)) {
    const double given = contributed(a, pair, Rule::individual);
    EXPECT_LE(given, budget * 1.0001);
    most = std::max(most, given);
  }
  EXPECT_GT(most, 0.4 * budget);
  EXPECT_GT(contributed(a, neighbours_of(a).front(), Rule::plain), 2 * budget);
}

TEST(IndividualTraining, TheEventIsTheFiltersBoundAndNoiseIsSmaller) {
  const Network network = small_network();
  PlanOptions options = small_plan(network, 10000);
  options.noise_multiplier.reset();
  options.epsilon = 2;
  options.batch = 200;
  options.steps = 500;
  const DpSgdPlan uniform(options);
  options.typical_norm = 0.4;
  const DpSgdPlan own(options);
  EXPECT_LT(own.noise_multiplier(), 0.85 * uniform.noise_multiplier());
  const auto& event = std::get<ApproximateEvent>(own.event().kind());
  EXPECT_LE(event.epsilon, 2);
  EXPECT_GT(event.epsilon, 1.98);
  EXPECT_LE(own.epsilon(500, 1e-5).upper, 2);
  EXPECT_LT(own.epsilon(10, 1e-5).upper, own.epsilon(500, 1e-5).upper);
}

// Who stops early has spent up to one step of full norm in every step, not a share of the budget.
TEST(IndividualTraining, ARunThatEndsEarlyStatesWhatItsStepsMayHaveCost) {
  const Network network = small_network();
  const DpSgdPlan plan(plan_for(Rule::individual, network));
  const double budget = plan.individual_budget().full_steps();
  ASSERT_LT(budget, 3);
  const auto epsilon = [](const Event& event) {
    return std::get<ApproximateEvent>(event.kind()).epsilon;
  };
  EXPECT_EQ(epsilon(plan.after(1).event()), plan.charges()->epsilon(1, Delta(1e-5)));
  EXPECT_EQ(epsilon(plan.after(3).event()), plan.charges()->epsilon(budget, Delta(1e-5)));
  EXPECT_EQ(epsilon(plan.after(3).event()), epsilon(plan.event()));
}

TEST(IndividualTraining, ACheckpointHoldsNoBudgetAndIsNotResumed) {
  Network network = small_network();
  const DpSgdPlan plan(plan_for(Rule::individual, network));
  Trainer trainer(*network, plan, objective_of(network), trainer_for(Rule::individual));
  Rng rng = Rng::insecure_seed(1);
  const Records a = clouds(60);
  trainer.step(a, rng);
  const TensorFile state = trainer.state();
  for (const auto& [key, tensor] : state.tensors) EXPECT_NE(tensor.numel(), 60) << key;
  Trainer again(*network, plan, objective_of(network), trainer_for(Rule::individual));
  EXPECT_THROW(again.restore(state), VerificationFailed);
  EXPECT_THROW(trainer.step(clouds(61), rng), InvalidArgument);
}

// Keeps who is asked for, batch by batch; negative: an empty row.
class Watched final : public RecordSource {
 public:
  explicit Watched(const Records& records) : records_(records) {}
  std::int64_t size() const override { return records_.size(); }
  Batch take(std::span<const std::int64_t> indices) const override {
    asked.emplace_back(indices.begin(), indices.end());
    return records_.take(indices);
  }
  Batch zeros(std::int64_t count) const override { return records_.zeros(count); }

  mutable std::vector<std::vector<std::int64_t>> asked;

 private:
  const Records& records_;
};

// Who sits where while norms are taken: a first step begins with it, until everybody was seen.
std::vector<std::vector<std::int64_t>> seats_for_norms(const Records& records, std::uint64_t seed) {
  Network network = small_network();
  Trainer trainer(*network, DpSgdPlan(plan_for(Rule::individual, network)), objective_of(network),
                  trainer_for(Rule::individual));
  Rng rng = Rng::insecure_seed(seed);
  const Watched watched(records);
  trainer.step(watched, rng);
  std::int64_t seen = 0;
  auto end = watched.asked.begin();
  for (; end != watched.asked.end() && seen < records.size(); ++end)
    seen += std::count_if(end->begin(), end->end(), [](std::int64_t who) { return who >= 0; });
  EXPECT_EQ(seen, records.size());
  return {watched.asked.begin(), end};
}

// While norms are taken a record more sits on an empty row of a batch of public size: it moves
// nobody, and where anybody sits is drawn.
TEST(IndividualTraining, NormsAreTakenOnRandomSeatsThatARecordMoreDoesNotMove) {
  const Records a = clouds(60);
  const auto without = seats_for_norms(a, 3);
  for (const Pair& pair : neighbours_of(a)) {
    if (pair.relation != Relation::add_remove) continue;
    auto with = seats_for_norms(pair.neighbour, 3);
    int moved = 0;
    for (auto& batch : with)
      for (std::int64_t& who : batch)
        if (who == 60) who = -1, ++moved;
    EXPECT_EQ(moved, 1);
    // The record more may have the only seat of a last batch.
    ASSERT_GE(with.size(), without.size());
    for (std::size_t k = 0; k < with.size(); ++k) {
      EXPECT_EQ(with[k].size(), without[0].size());
      if (k < without.size()) {
        EXPECT_EQ(with[k], without[k]);
      } else {
        EXPECT_EQ(std::count(with[k].begin(), with[k].end(), -1), std::ssize(with[k]));
      }
    }
  }
  // Not in order of the file, and not as with another seed.
  std::vector<std::int64_t> order;
  for (const auto& batch : without)
    for (const std::int64_t who : batch)
      if (who >= 0) order.push_back(who);
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
  EXPECT_NE(seats_for_norms(a, 4), without);
}

// Clipped one by one or in other ways, a record would give more than the threshold it pays for.
TEST(IndividualTraining, NeedsWholeBatchesAndFlatClipping) {
  Network network = small_network();
  const DpSgdPlan plan(plan_for(Rule::individual, network));
  TrainerOptions one_by_one = trainer_for(Rule::individual);
  one_by_one.micro_batches = true;
  EXPECT_THROW(Trainer(*network, plan, objective_of(network), one_by_one), InvalidArgument);
  TrainerOptions other = trainer_for(Rule::individual);
  other.clip_rule = ClipRule::normalised;
  EXPECT_THROW(Trainer(*network, plan, objective_of(network), other), InvalidArgument);
}

TEST(FairTraining, RefusesWhatIsNotAccountedFor) {
  const Network network = small_network();
  for (const Rule rule : {Rule::dpsgd_f, Rule::individual}) {
    PlanOptions options = plan_for(rule, network);
    options.relation = Relation::replace_one;
    EXPECT_THROW(DpSgdPlan{options}, Unsupported);
    options = plan_for(rule, network);
    options.noise = NoiseKind::exact;
    EXPECT_THROW(DpSgdPlan{options}, Unsupported);
  }
  PlanOptions options = plan_for(Rule::individual, network);
  options.typical_norm = 1.5;
  EXPECT_THROW(DpSgdPlan{options}, InvalidArgument);
  options = plan_for(Rule::dpsgd_f, network);
  Network other = small_network();
  EXPECT_THROW(Trainer(*other, DpSgdPlan(options), objective_of(other), {}), InvalidArgument);
  options.adaptive->groups = 1;
  EXPECT_THROW(DpSgdPlan{options}, InvalidArgument);
}

}  // namespace sotto::deep::fairness_test
