// What an observer can prove about ε from many outputs of two neighbouring data sets.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "support/statistics.hpp"

namespace sotto::test {

// A lower bound on ε with confidence 1 − kAlpha. The direction and the threshold come from the
// first halves of the runs, the counts from the second; as many runs of a as of b.
inline double epsilon_lower(const std::vector<std::vector<double>>& a,
                            const std::vector<std::vector<double>>& b, double delta) {
  const std::size_t runs = a.size(), half = runs / 2, d = a[0].size();
  std::vector<double> direction(d);
  for (std::size_t i = 0; i < half; ++i) {
    for (std::size_t j = 0; j < d; ++j) direction[j] += std::tanh(a[i][j]) - std::tanh(b[i][j]);
  }
  const auto score = [&](const std::vector<double>& w) {
    double s = 0;
    for (std::size_t j = 0; j < d; ++j) s += direction[j] * w[j];
    return s;
  };
  std::vector<double> thresholds;
  for (std::size_t i = 0; i < half; ++i) {
    thresholds.push_back(score(a[i]));
    thresholds.push_back(score(b[i]));
  }
  std::sort(thresholds.begin(), thresholds.end());
  const auto bound = [&](double threshold, std::size_t from, std::size_t to, double alpha) {
    std::uint64_t in_a = 0, in_b = 0;
    for (std::size_t i = from; i < to; ++i) {
      in_a += score(a[i]) > threshold;
      in_b += score(b[i]) > threshold;
    }
    const double p = clopper_pearson_lower(in_a, to - from, alpha / 2),
                 q = clopper_pearson_upper(in_b, to - from, alpha / 2);
    return p > delta ? std::log((p - delta) / q) : -INFINITY;
  };
  double best = thresholds[half], best_bound = -INFINITY;
  for (int k = 1; k < 20; ++k) {
    const double t = thresholds[thresholds.size() * static_cast<std::size_t>(k) / 20];
    const double e = bound(t, 0, half, 0.05);
    if (e > best_bound) best_bound = e, best = t;
  }
  return bound(best, half, runs, kAlpha);
}

}  // namespace sotto::test
