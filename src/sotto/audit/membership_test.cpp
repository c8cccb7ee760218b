// Membership attacks on made-up models: a record that was in is remembered by a known amount.
#include "sotto/audit/membership.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "sotto/audit/scores.hpp"
#include "sotto/core/error.hpp"

namespace sotto::audit::membership_test {

constexpr Attack kAttacks[] = {Attack::loss, Attack::entropy,      Attack::shadow,
                               Attack::lira, Attack::lira_offline, Attack::lira_offline_density,
                               Attack::rmia};

// Records differ in how hard they are, much more than a model remembers of one.
struct World {
  std::mt19937_64 engine;
  std::vector<double> hardness;
  double memory;

  World(std::size_t records, double remembered, std::uint64_t seed)
      : engine(seed), memory(remembered) {
    std::normal_distribution<> normal(0, 2);
    for (std::size_t i = 0; i < records; ++i) hardness.push_back(normal(engine));
  }
  SeenModel model() {
    std::normal_distribution<> noise(0, 0.5);
    SeenModel m;
    for (const double h : hardness) {
      const bool in = engine() % 2 == 0;
      const double margin = h + noise(engine) + (in ? memory : 0), p = 1 / (1 + std::exp(-margin));
      m.members.push_back(in);
      m.sights.push_back(sight_of_class(std::vector<double>{1 - p, p}, 1));
    }
    return m;
  }
};

ScoreAudit attacked(Attack attack, double memory, std::uint64_t seed, std::size_t shadow_models) {
  World world(1000, memory, seed);
  std::vector<SeenModel> shadows;
  for (std::size_t k = 0; k < shadow_models; ++k) shadows.push_back(world.model());
  const SeenModel target = world.model();
  const auto scores = membership_scores(attack, target.sights, shadows);
  std::vector<double> in, out;
  for (std::size_t i = 0; i < scores.size(); ++i)
    (target.members[i] ? in : out).push_back(scores[i]);
  return audit_scores(in, out, {.delta = 0});
}

TEST(Membership, ASightIsWhatTheFormulasSay) {
  const Sight s = sight_of_class(std::vector<double>{0.2, 0.5, 0.3}, 1);
  EXPECT_NEAR(s.confidence, 0, 1e-12);
  EXPECT_EQ(s.likelihood, 0.5);
  EXPECT_NEAR(s.entropy, -0.5 * std::log(0.5) - 0.2 * std::log(0.8) - 0.3 * std::log(0.7), 1e-12);
  EXPECT_EQ(sight_of_number(-2).confidence, -2);
  for (const double p : {0.0, 1.0, double{NAN}, HUGE_VAL, -1.0}) {
    const Sight odd = sight_of_class(std::vector<double>{1 - p, p}, 1);
    EXPECT_TRUE(std::isfinite(odd.confidence) && std::isfinite(odd.entropy)) << p;
  }
}

// The optimum knows each record's hardness: N(0.5·k, …) against N(0, 0.5), area Φ(memory/(0.5√2)).
TEST(Membership, ComparedWithShadowModelsARecordIsFoundThatALossHides) {
  const double best = 0.5 * std::erfc(-1.0 / 0.5 / std::sqrt(2.0) / std::sqrt(2.0));  // 0.921
  for (const std::size_t shadow_models : {32u, 128u}) {
    EXPECT_NEAR(attacked(Attack::lira, 1, 1, shadow_models).auc.value, best, 0.03);
    EXPECT_NEAR(attacked(Attack::lira_offline, 1, 1, shadow_models).auc.value, best, 0.03);
    EXPECT_GT(attacked(Attack::rmia, 1, 1, shadow_models).auc.value, 0.8);
  }
  EXPECT_LT(attacked(Attack::loss, 1, 1, 0).auc.value, 0.7);
  EXPECT_GT(attacked(Attack::loss, 1, 1, 0).auc.value, 0.55);
  EXPECT_GT(attacked(Attack::shadow, 1, 1, 16).auc.value, 0.55);
}

// Where nothing is remembered the area is ½ within five standard errors, and no ε is proved: each
// of the 7 × 20 bounds is wrong with probability 0.05, more than 20 of them with less than 1e-4.
TEST(Membership, NoAttackFindsWhatIsNotThere) {
  int proved = 0;
  for (const Attack attack : kAttacks) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const ScoreAudit audit = attacked(attack, 0, seed, 8);
      EXPECT_NEAR(audit.auc.value, 0.5, 5 * 0.0183) << name(attack);
      proved += audit.one_run > 0;
    }
  }
  EXPECT_LE(proved, 20);
}

TEST(Membership, ARecordThatEveryShadowModelHadBorrowsTheUsualDifference) {
  World world(50, 1, 3);
  std::vector<SeenModel> shadows = {world.model(), world.model()};
  for (SeenModel& m : shadows) m.members[0] = true, m.members[1] = false;
  for (const Attack attack : kAttacks)
    for (const double s : membership_scores(attack, world.model().sights, shadows))
      EXPECT_TRUE(std::isfinite(s)) << name(attack);
}

TEST(Membership, RefusesWhatItCannotDo) {
  World world(10, 1, 3);
  const SeenModel target = world.model();
  EXPECT_THROW(membership_scores(Attack::lira, target.sights, {}), InvalidArgument);
  EXPECT_THROW(membership_scores(Attack::lira, target.sights, {target, SeenModel{}}),
               InvalidArgument);
  EXPECT_THROW(parse_attack("magic"), InvalidArgument);
  for (const Attack attack : kAttacks) EXPECT_EQ(parse_attack(name(attack)), attack);
}

}  // namespace sotto::audit::membership_test
