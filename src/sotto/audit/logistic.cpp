#include "sotto/audit/detail/logistic.hpp"

#include <cmath>

namespace sotto::audit {

double logistic_margin(const std::vector<double>& weights, const std::vector<double>& features) {
  double m = weights.back();
  for (std::size_t i = 0; i < features.size(); ++i) m += weights[i] * features[i];
  return m;
}

std::vector<double> logistic_weights(const std::vector<LogisticRow>& rows, std::size_t features) {
  std::vector<double> weights(features + 1);
  const double rate = 4.0 / (1 + static_cast<double>(features)) / static_cast<double>(rows.size());
  for (int step = 0; step < 200 && !rows.empty(); ++step) {
    std::vector<double> gradient(weights.size());
    for (const LogisticRow& row : rows) {
      const double error =
          1 / (1 + std::exp(-logistic_margin(weights, row.features))) - (row.positive ? 1 : 0);
      for (std::size_t i = 0; i < features; ++i) gradient[i] += error * row.features[i];
      gradient.back() += error;
    }
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] -= rate * gradient[i];
  }
  return weights;
}

}  // namespace sotto::audit
