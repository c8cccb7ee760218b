// Private evaluation: how good a model is on private rows, with noise, an event and intervals that
// include the noise.
//
// What       Classification: rows, confusion counts, accuracy, log-loss and (two classes) the area
//            under the curve, overall and by group.
//            Regression: rows, R², root mean square error and mean absolute error.
// Guarantee  Costs at most the budget for neighbours under the relation; a unit has at most
//            `contributions` rows. The model and the labels of classes and groups are public. Holds
//            whatever the model says about a row (NaN included).
// Method     Classification: two histograms, half the budget each. (1) group × true class ×
//            predicted class. (2) two classes: group × true class × bin of the log-odds; more
//            classes: group × bin of −ln(probability of the true class). A row is in one cell of
//            each. Regression: per group the sums of (1, |e|, e², t, t²), e the error and t the
//            target in units of half the target's width from its middle, |e| clipped at 1: ℓ1 ≤ 5,
//            ℓ2 ≤ √5. All figures are post-processing of these.
//            An (ε, δ) becomes the ρ of the Gaussian with that profile, split in halves.
// Numerics   Counts and grid sums are exact integers; a contribution is at most 1/granularity
//            steps. Log-odds are binned by ½ and clamped to ±7, losses by ¼ up to 7: log-loss is
//            that of the binned scores. Intervals are first-order, cover the sampling of the rows
//            and the noise, and are wide rather than narrow: docs/math/private-evaluation.md.
// Reference  [DDC88] for the variance of the area; docs/math/private-evaluation.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sotto/core/release.hpp"
#include "sotto/core/rng.hpp"
#include "sotto/core/values.hpp"
#include "sotto/learning/evaluation.hpp"
#include "sotto/mechanisms/lattice_noise.hpp"

namespace sotto {

struct PrivateEvaluationOptions {
  Relation relation = Relation::add_remove;
  std::uint64_t contributions = 1;  // rows of one unit
  std::size_t classes = 0;          // 0: regression
  std::optional<Bounds> target;     // of a regression
  std::size_t groups = 1;           // 1: no groups
};

struct PrivateMetric {
  double value = 0;
  Interval interval_95;
};

// A figure is absent when the noise drowns it.
struct PrivateQuality {
  double rows = 0;  // noisy, or exact where the number is public
  std::optional<PrivateMetric> accuracy, auc, log_loss;
  std::optional<PrivateMetric> r2, rmse, mae;  // in the unit of the target
  std::vector<std::vector<double>> confusion;  // noisy: true class × predicted class
  double sigma = 0, z = 0;  // of the noise of a confusion count; of a 95 % interval
  std::optional<PrivateMetric> calibration;  // two classes: mean probability less share
};

struct PrivateEvaluation {
  PrivateQuality all;
  std::vector<PrivateQuality> groups;  // empty without groups
};

class PrivateEvaluationPlan {
 public:
  PrivateEvaluationPlan(const PrivateEvaluationOptions& options, const Budget& budget);

  Event event() const;
  Relation relation() const { return options_.relation; }
  std::string describe() const;

  Release<PrivateEvaluation> run(const std::vector<ScoredRow>& rows, Rng& rng) const;

 private:
  std::vector<LatticeNoise> make_noise(const Budget& part) const;
  std::size_t score_cells() const;  // of one group
  std::vector<double> noisy_confusion(const std::vector<ScoredRow>& rows, Rng& rng) const;
  std::vector<double> noisy_scores(const std::vector<ScoredRow>& rows, Rng& rng) const;
  std::vector<double> noisy_sums(const std::vector<ScoredRow>& rows, Rng& rng) const;

  PrivateEvaluationOptions options_;
  std::vector<LatticeNoise> noise_;  // confusion and scores, or the sums
};

}  // namespace sotto
