#include "sotto/local/server/consistency.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace sotto::local {

std::vector<double> onto_simplex(const std::vector<double>& shares) {
  std::vector<double> sorted = shares;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  // The cut is the last one at which the smallest that is kept stays positive.
  double sum = 0, cut = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    sum += sorted[i];
    const double candidate = (sum - 1) / static_cast<double>(i + 1);
    if (sorted[i] > candidate) cut = candidate;
  }
  std::vector<double> result;
  for (const double s : shares) result.push_back(std::max(0.0, s - cut));
  return result;
}

std::vector<double> likeliest_shares(const Support& support) {
  constexpr int kMostRounds = 10'000;
  constexpr double kStill = 1e-9;
  const std::size_t k = support.counts.size();
  std::vector<double> shares(k, 1 / static_cast<double>(k));
  const double gap = support.p - support.q;
  for (int round = 0; round < kMostRounds; ++round) {
    // An observation of category y has probability q + f_y(p − q), up to a factor.
    double common = 0, total = 0, moved = 0;
    for (std::size_t y = 0; y < k; ++y)
      common += support.q * support.counts[y] / (support.q + shares[y] * gap);
    for (std::size_t y = 0; y < k; ++y)
      total += shares[y] * (common + gap * support.counts[y] / (support.q + shares[y] * gap));
    if (!(total > 0)) break;
    for (std::size_t y = 0; y < k; ++y) {
      const double weight = common + gap * support.counts[y] / (support.q + shares[y] * gap);
      const double next = shares[y] * weight / total;
      moved = std::max(moved, std::abs(next - shares[y]));
      shares[y] = next;
    }
    if (moved < kStill) break;
  }
  return shares;
}

}  // namespace sotto::local
