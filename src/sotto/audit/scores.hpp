// What two columns of scores, of members and of non-members, prove about ε.
//
// What       audit_scores: how well a score separates members from non-members (area under the
//            curve, true positives at few false ones, advantage), and lower bounds of ε with the
//            choice of the threshold paid for. A high score says member.
// Guarantee  Each bound exceeds the ε of the mechanism with probability at most 1 − confidence, if
//            scores are independent (Clopper–Pearson), or if membership was drawn by fair coins in
//            one run (one_run). The Gaussian values are estimates under an assumption.
// Method     bonferroni: thresholds at ranks that are fixed beforehand, each at its share of alpha;
//            at the k-th largest score of non-members the false positive rate follows a beta law,
//            and members are independent of it. split: one half chooses, the other half counts.
//            multi_split: the median over several splits, each at alpha/2. explicit: a threshold
//            that was known before.
// Numerics   Ties count for the private side: only scores beyond a threshold are called members.
// Reference  [JUO20], [NHS+23], [SNJ23], [DDC88]; docs/math/audit.md.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sotto/audit/counts.hpp"
#include "sotto/audit/one_run.hpp"

namespace sotto::audit {

enum class ThresholdChoice { bonferroni, split, multi_split, explicit_threshold };

struct ScoreOptions {
  double delta = 1e-5;
  double confidence = 0.95;
  ThresholdChoice choice = ThresholdChoice::bonferroni;
  double threshold = 0;    // explicit_threshold
  std::uint64_t seed = 1;  // of the splits
};

struct Interval {
  double value, lower, upper;
};

struct RateAt {
  double false_positive_rate;
  Interval true_positive_rate;
};

struct ScoreAudit {
  std::size_t members = 0, nonmembers = 0;
  Interval auc;
  double advantage = 0;  // the largest TPR − FPR
  std::vector<RateAt> tpr_at_fpr;
  double clopper_pearson = 0, clopper_pearson_ceiling = 0;
  GaussianEstimate gdp{}, gdp_ceiling{};
  double one_run = 0, one_run_ceiling = 0;
  std::uint64_t one_run_guesses = 0;  // of the best choice
  GaussianEstimate one_run_gdp{};
  GaussianEstimate shift{};  // of normal scores (shift.hpp)
};

// Throws InvalidArgument for fewer than two scores on a side, scores that are not numbers, and
// options out of range.
ScoreAudit audit_scores(std::vector<double> members, std::vector<double> nonmembers,
                        const ScoreOptions& options);

// Points of the ROC curve, false positive rate first, ascending.
std::vector<std::pair<double, double>> roc_curve(std::vector<double> members,
                                                 std::vector<double> nonmembers);

}  // namespace sotto::audit
