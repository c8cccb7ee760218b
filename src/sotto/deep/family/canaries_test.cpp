// Canaries that are gradients: in the sums they are what clipping lets them be, and nothing else.
#include <gtest/gtest.h>

#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/deep/family/detail/canary_training.hpp"

namespace sotto::deep::canaries_test {

constexpr std::int64_t kRecords = 100;
const std::vector<bool> kIn = {true, false, true, true, false, false, true, false};

Records some_records() {
  torch::manual_seed(1);
  return {torch::rand({kRecords, 4}), torch::randint(2, {kRecords}, torch::kLong)};
}

std::vector<double> scores_under(Relation relation, NoiseKind noise, ClipRule rule,
                                 double multiplier, std::uint64_t steps) {
  const PlanOptions options{.records = kRecords,
                            .relation = relation,
                            .sampling = Sampling::full_batch,
                            .batch = kRecords,
                            .steps = steps,
                            .clip = 0.5,
                            .noise_multiplier = multiplier,
                            .delta = 1e-5,
                            .noise = noise,
                            .dimension = 1};
  const DpSgdPlan plan(options);
  const NetworkOptions network{.kind = NetworkKind::mlp, .input = {4}, .outputs = 2, .hidden = {3}};
  Rng rng = Rng::insecure_seed(3);
  return CanaryTraining{.network = network,
                        .plan = &plan,
                        .plain = {},
                        .options = {.clip_rule = rule},
                        .classification = true}
      .scores(some_records(), kIn, rng);
}

// Of noise 1/50 of the clip norm: those in are 50 away from 0 for each step, within 6 deviations.
TEST(GradientCanaries, AddTheClipNormToTheirOwnCoordinateUnderEveryRelation) {
  constexpr double kMultiplier = 0.02;
  for (const NoiseKind noise : {NoiseKind::exact, NoiseKind::bulk}) {
    for (const Relation relation :
         {Relation::add_remove, Relation::zero_out, Relation::replace_one}) {
      const auto scores = scores_under(relation, noise, ClipRule::flat, kMultiplier, 4);
      ASSERT_EQ(scores.size(), kIn.size());
      for (std::size_t k = 0; k < kIn.size(); ++k) {
        const double out = relation == Relation::replace_one ? -200 : 0;
        EXPECT_NEAR(scores[k], kIn[k] ? 200 : out, 6 * 2 + 2) << name(relation) << name(noise) << k;
      }
    }
  }
}

TEST(GradientCanaries, AreClippedByTheRuleOfThePlan) {
  const auto scores =
      scores_under(Relation::add_remove, NoiseKind::exact, ClipRule::normalised, 0.02, 1);
  for (std::size_t k = 0; k < kIn.size(); ++k) EXPECT_NEAR(scores[k], kIn[k] ? 50 : 0, 8) << k;
}

TEST(GradientCanaries, WithoutNoiseTheirWeightsAloneTell) {
  const NetworkOptions network{.kind = NetworkKind::softmax, .input = {4}, .outputs = 2};
  Rng rng = Rng::insecure_seed(3);
  const PlainPlan plain{
      .sampling = Sampling::full_batch, .records = kRecords, .batch = kRecords, .steps = 3};
  const auto scores = CanaryTraining{.network = network,
                                     .plan = nullptr,
                                     .plain = plain,
                                     .options = {},
                                     .classification = true}
                          .scores(some_records(), kIn, rng);
  for (std::size_t k = 0; k < kIn.size(); ++k) EXPECT_EQ(scores[k] > 0, kIn[k]) << k;
}

TEST(GradientCanaries, NeedRecordsWhosePlacesTheyTake) {
  const NetworkOptions network{.kind = NetworkKind::softmax, .input = {4}, .outputs = 2};
  Rng rng = Rng::insecure_seed(3);
  const CanaryTraining training{.network = network,
                                .plan = nullptr,
                                .plain = {.records = kRecords, .batch = 10, .steps = 1},
                                .options = {},
                                .classification = true};
  EXPECT_THROW(training.scores(some_records(), std::vector<bool>(1000), rng), DataError);
}

}  // namespace sotto::deep::canaries_test
