// A linear model: what training releases. Scores are W·(s·x, s·c), x an encoded record, s and c
// public constants of the encoding.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "sotto/models/linear/loss.hpp"

namespace sotto {

struct LinearModel {
  Loss loss = Loss::logistic;
  std::size_t features = 0;  // of an encoded record
  std::size_t outputs = 1;   // 1: binary or regression; K: one per class
  double norm_bound = 1;     // longer records are scaled down to it, as in training
  double scale = 1, intercept = 1;
  std::vector<double> weights;  // outputs × (features + 1 when there is an intercept)

  std::size_t dimension() const { return features + (intercept != 0 ? 1 : 0); }

  // One score per output.
  std::vector<double> scores(std::span<const float> record) const;
  // Class probabilities: logistic for one output (two entries), softmax for several. For the hinge
  // losses a monotone map of the scores.
  std::vector<double> probabilities(std::span<const float> record) const;
  std::size_t classify(
      std::span<const float> record) const;             // index of the class; 0/1 for one output
  double regress(std::span<const float> record) const;  // in the scaled target, clamped to [−1, 1]
};

nlohmann::ordered_json to_json(const LinearModel& model);
LinearModel linear_model_from_json(const nlohmann::ordered_json& json);  // throws DataError

}  // namespace sotto
