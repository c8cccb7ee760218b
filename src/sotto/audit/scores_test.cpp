// Audits of scores: what they prove of normal scores, and how often they err where nothing leaks.
#include "sotto/audit/scores.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "sotto/audit/shift.hpp"
#include "sotto/core/error.hpp"
#include "support/statistics.hpp"

namespace sotto::audit::scores_test {

constexpr ThresholdChoice kChoices[] = {ThresholdChoice::bonferroni, ThresholdChoice::split,
                                        ThresholdChoice::multi_split};

std::vector<double> normal_scores(std::size_t n, double mean, std::mt19937_64& engine) {
  std::normal_distribution<> normal(mean, 1);
  std::vector<double> out(n);
  for (double& x : out) x = normal(engine);
  return out;
}

TEST(Scores, AreaCountsTiesByHalf) {
  const auto auc = [](std::vector<double> in, std::vector<double> out) {
    return audit_scores(std::move(in), std::move(out), {}).auc.value;
  };
  EXPECT_DOUBLE_EQ(auc({0, 4, 6, 7}, {1, 2, 3, 5}), 11.0 / 16);
  EXPECT_DOUBLE_EQ(auc({1, 1}, {1, 1}), 0.5);
  EXPECT_DOUBLE_EQ(auc({2, 3}, {0, 1}), 1);
}

TEST(Scores, RatesAtFewFalsePositives) {
  std::vector<double> in, out;
  for (int i = 0; i < 1000; ++i) out.push_back(i), in.push_back(i + 100.5);
  const ScoreAudit audit = audit_scores(in, out, {});
  ASSERT_EQ(audit.tpr_at_fpr.size(), 3u);
  // One of 1000 non-members may be beyond: the threshold is 998, members beyond it are 898.5 … on.
  EXPECT_DOUBLE_EQ(audit.tpr_at_fpr[0].true_positive_rate.value, 0.102);
  EXPECT_DOUBLE_EQ(audit.tpr_at_fpr[2].true_positive_rate.value, 0.201);
  EXPECT_LT(audit.tpr_at_fpr[2].true_positive_rate.lower, 0.201);
  EXPECT_GT(audit.tpr_at_fpr[2].true_positive_rate.upper, 0.201);
  EXPECT_NEAR(audit.advantage, 0.101, 1e-12);
}

// δ = 1e-6: no bound may exceed the ε of N(0,1) against N(s,1), and each must see a good part.
TEST(Scores, BoundsOfNormalScoresAreBelowTheTruthAndNotFarFromIt) {
  std::mt19937_64 engine(3);
  for (const double s : {1.0, 2.0, 4.0}) {
    const double truth = s == 1 ? 4.9 : s == 2 ? 11.3 : 27;
    const auto in = normal_scores(10000, s, engine), out = normal_scores(10000, 0, engine);
    for (const ThresholdChoice choice : kChoices) {
      const ScoreAudit audit = audit_scores(in, out, {.delta = 1e-6, .choice = choice});
      EXPECT_LT(audit.clopper_pearson, truth);
      EXPECT_GT(audit.clopper_pearson, 1.05 * s) << s;
      EXPECT_LT(audit.gdp.mu, s);
      EXPECT_GT(audit.gdp.mu, 0.8 * s);
      EXPECT_LE(audit.clopper_pearson, audit.clopper_pearson_ceiling);
      EXPECT_LE(audit.one_run, audit.one_run_ceiling);
      EXPECT_GT(audit.one_run, 0.8 * s);
      EXPECT_LT(audit.one_run_gdp.mu, s);
      EXPECT_LT(audit.shift.mu, s);
      EXPECT_GT(audit.shift.mu, 0.93 * s);
    }
  }
}

// Where nothing leaks a positive bound is an error; it may happen in a share 1 − confidence of
// trials (false alarm: test::kAlpha for each of the bounds).
TEST(Scores, NullDataGiveAPositiveBoundAtMostAsOftenAsStated) {
  std::mt19937_64 engine(5);
  constexpr std::uint64_t kTrials = 1000;
  for (const ThresholdChoice choice : kChoices) {
    std::uint64_t positive[5] = {};
    for (std::uint64_t i = 0; i < kTrials; ++i) {
      const ScoreAudit audit =
          audit_scores(normal_scores(200, 0, engine), normal_scores(200, 0, engine),
                       {.delta = 0, .confidence = 0.95, .choice = choice, .seed = i});
      const bool found[] = {audit.clopper_pearson > 0, audit.gdp.mu > 0, audit.one_run > 0,
                            audit.one_run_gdp.mu > 0, audit.shift.mu > 0};
      for (int k = 0; k < 5; ++k) positive[k] += found[k];
    }
    for (const std::uint64_t p : positive) EXPECT_LE(p, 50u + 35u);  // 50 + 5 standard errors
  }
}

// The limit of the shift exceeds the truth in 5 % of trials: not more often, and about that often,
// for few scores and for many, near and far (false alarm: 5 standard errors, below test::kAlpha).
TEST(Scores, TheLimitOfAShiftErrsAsOftenAsStated) {
  std::mt19937_64 engine(7);
  constexpr int kTrials = 4000;
  for (const auto& [scores, s] : {std::pair(15, 0.5), {15, 3.0}, {500, 0.27}, {500, 4.0}}) {
    int wrong = 0;
    for (int i = 0; i < kTrials; ++i)
      wrong += shift_estimate(normal_scores(scores, s, engine), normal_scores(scores, 0, engine),
                              1e-5, 0.05)
                   .mu > s;
    EXPECT_NEAR(wrong, 200, 69 + 8) << scores << " " << s;  // 8: the normal law for the t law
  }
}

// The mutant: half the noise doubles the shift, and is seen.
TEST(Scores, AShiftSeesNoiseThatIsTooSmall) {
  std::mt19937_64 engine(9);
  const auto found =
      shift_estimate(normal_scores(1000, 2, engine), normal_scores(1000, 0, engine), 1e-5, 0.05);
  EXPECT_GT(found.mu, 1.7);
  EXPECT_GT(found.epsilon, 4.3771781);  // of μ = 1, which was claimed
  EXPECT_EQ(shift_estimate(std::vector<double>(500, 1), std::vector<double>(500, 1), 1e-5, 0.05).mu,
            0);
}

TEST(Scores, TiesProveNothing) {
  const std::vector<double> same(500, 1.0);
  for (const ThresholdChoice choice : kChoices) {
    const ScoreAudit audit = audit_scores(same, same, {.delta = 0, .choice = choice});
    EXPECT_EQ(audit.clopper_pearson, 0);
    EXPECT_EQ(audit.one_run, 0);
  }
}

TEST(Scores, AKnownThresholdCostsNothing) {
  std::vector<double> in(1000, 1.0), out(1000, 0.0);
  const ScoreAudit audit = audit_scores(
      in, out, {.delta = 1e-5, .choice = ThresholdChoice::explicit_threshold, .threshold = 0.5});
  EXPECT_NEAR(audit.clopper_pearson, 5.6005775, 5e-8);
  EXPECT_EQ(audit.clopper_pearson, audit.clopper_pearson_ceiling);
}

TEST(Scores, BadInputIsRefused) {
  EXPECT_THROW(audit_scores({1}, {1, 2}, {}), InvalidArgument);
  EXPECT_THROW(audit_scores({1, NAN}, {1, 2}, {}), InvalidArgument);
  EXPECT_THROW(audit_scores({1, 2}, {1, 2}, {.confidence = 1}), InvalidArgument);
  EXPECT_THROW(audit_scores({1, 2}, {1, 2}, {.delta = -1}), InvalidArgument);
}

TEST(Scores, TheCurveEndsAtOne) {
  const auto curve = roc_curve({3, 1}, {2, 1});
  ASSERT_EQ(curve.size(), 4u);
  EXPECT_EQ(curve[1], (std::pair<double, double>{0, 0.5}));
  EXPECT_EQ(curve.back(), (std::pair<double, double>{1, 1}));
}

}  // namespace sotto::audit::scores_test
