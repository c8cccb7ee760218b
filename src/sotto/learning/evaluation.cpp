#include "sotto/learning/evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

namespace sotto {
namespace {

ClassificationQuality classification(const std::vector<ScoredRow>& rows,
                                     const std::vector<std::size_t>& which) {
  ClassificationQuality q{
      .rows = which.size(), .accuracy = 0, .log_loss = 0, .auc = {}, .accuracy_95 = {}};
  if (which.empty()) return q;
  std::uint64_t right = 0;
  double loss = 0;
  std::vector<double> scores;
  std::vector<bool> positive;
  for (std::size_t i : which) {
    const ScoredRow& row = rows[i];
    right += row.prediction == row.target ? 1 : 0;
    const auto truth = static_cast<std::size_t>(row.target);
    loss -= std::log(
        std::max(truth < row.probabilities.size() ? row.probabilities[truth] : 0.0, 1e-15));
    if (row.probabilities.size() == 2) {
      scores.push_back(row.probabilities[1]);
      positive.push_back(truth == 1);
    }
  }
  q.accuracy = static_cast<double>(right) / static_cast<double>(which.size());
  q.log_loss = loss / static_cast<double>(which.size());
  q.accuracy_95 = wilson_95(right, which.size());
  if (!scores.empty()) q.auc = area_under_curve(scores, positive);
  return q;
}

RegressionQuality regression(const std::vector<ScoredRow>& rows,
                             const std::vector<std::size_t>& which) {
  RegressionQuality q{.rows = which.size()};
  if (which.empty()) return q;
  const double n = static_cast<double>(which.size());
  double mean = 0, residual = 0, total = 0, absolute = 0;
  for (std::size_t i : which) mean += rows[i].target / n;
  for (std::size_t i : which) {
    const double e = rows[i].target - rows[i].prediction, t = rows[i].target - mean;
    residual += e * e;
    total += t * t;
    absolute += std::fabs(e);
  }
  q.r2 = total > 0 ? 1 - residual / total : 0;
  q.rmse = std::sqrt(residual / n);
  q.mae = absolute / n;
  return q;
}

}  // namespace

Interval wilson_95(std::uint64_t successes, std::uint64_t trials) {
  if (trials == 0) return {0, 1};
  const double n = static_cast<double>(trials), p = static_cast<double>(successes) / n,
               z = 1.959963984540054;
  const double centre = (p + z * z / (2 * n)) / (1 + z * z / n);
  const double half = z / (1 + z * z / n) * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
  return {std::max(0.0, centre - half), std::min(1.0, centre + half)};
}

std::optional<double> area_under_curve(const std::vector<double>& scores,
                                       const std::vector<bool>& positive) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return scores[a] < scores[b]; });
  double positives = 0, negatives = 0, wins = 0;
  for (std::size_t i = 0; i < order.size();) {
    double tied_positives = 0, tied_negatives = 0;
    std::size_t j = i;
    for (; j < order.size() && scores[order[j]] == scores[order[i]]; ++j)
      (positive[order[j]] ? tied_positives : tied_negatives) += 1;
    wins += tied_positives * (negatives + tied_negatives / 2);
    positives += tied_positives;
    negatives += tied_negatives;
    i = j;
  }
  if (positives == 0 || negatives == 0) return std::nullopt;
  return wins / (positives * negatives);
}

Evaluation evaluate(bool is_classification, const std::vector<ScoredRow>& rows,
                    const std::vector<std::string>& labels) {
  Evaluation result;
  result.is_classification = is_classification;
  const auto measure = [&](const std::vector<std::size_t>& which) {
    return is_classification ? std::pair(classification(rows, which), RegressionQuality{})
                             : std::pair(ClassificationQuality{}, regression(rows, which));
  };
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].null) all.push_back(i);
  }
  std::tie(result.classification, result.regression) = measure(all);
  for (std::size_t g = 0; g < labels.size(); ++g) {
    std::vector<std::size_t> members;
    for (const std::size_t i : all) {
      if (rows[i].group == g) members.push_back(i);
    }
    const auto [c, r] = measure(members);
    result.groups.push_back({labels[g], c, r});
  }
  return result;
}

}  // namespace sotto
