#include "sotto/models/synthesis/detail/pair_shrinkage.hpp"

#include <algorithm>

namespace sotto {

void shrink(Marginal& pair, const Marginal& first, const Marginal& second, double total) {
  const std::size_t rows = first.counts.size(), width = second.counts.size();
  std::vector<double> by_row(rows), by_column(width);
  double sum = 0;
  for (std::size_t i = 0; i < pair.counts.size(); ++i) {
    by_row[i / width] += pair.counts[i];
    by_column[i % width] += pair.counts[i];
    sum += pair.counts[i];
  }
  if (!(sum > 0)) return;
  double square = 0;
  std::vector<double> residual(pair.counts.size());
  for (std::size_t i = 0; i < pair.counts.size(); ++i) {
    residual[i] = pair.counts[i] - by_row[i / width] * by_column[i % width] / sum;
    square += residual[i] * residual[i];
  }
  const double variance = pair.deviation * pair.deviation;
  const double freedom = static_cast<double>((rows - 1) * (width - 1));
  const double kept = square > 0 ? std::max(0.0, 1 - freedom * variance / square) : 0;
  const auto shares = [](std::vector<double>& here, double noise, const Marginal& own) {
    double all = 0;
    for (std::size_t i = 0; i < here.size(); ++i) {
      const double w = 1 / noise, v = 1 / (own.deviation * own.deviation);
      here[i] = std::max(0.0, (w * here[i] + v * own.counts[i]) / (w + v));
      all += here[i];
    }
    for (double& x : here) x = all > 0 ? x / all : 1 / static_cast<double>(here.size());
  };
  shares(by_row, variance * static_cast<double>(width), first);
  shares(by_column, variance * static_cast<double>(rows), second);
  for (std::size_t i = 0; i < pair.counts.size(); ++i)
    pair.counts[i] = total * by_row[i / width] * by_column[i % width] + kept * residual[i];
}

}  // namespace sotto
