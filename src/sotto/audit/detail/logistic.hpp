// A logistic classifier by gradient descent, for attacks that learn what tells two sides apart.
#pragma once

#include <vector>

namespace sotto::audit {

struct LogisticRow {
  std::vector<double> features;  // about as large as 1
  bool positive;
};

// Weights, and the intercept last.
std::vector<double> logistic_weights(const std::vector<LogisticRow>& rows, std::size_t features);
double logistic_margin(const std::vector<double>& weights, const std::vector<double>& features);

}  // namespace sotto::audit
