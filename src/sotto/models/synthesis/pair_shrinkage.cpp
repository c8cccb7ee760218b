#include "sotto/models/synthesis/detail/pair_shrinkage.hpp"

#include <algorithm>

namespace sotto {

void shrink(Marginal& pair, const Marginal& first, const Marginal& second, double total,
            const std::vector<double>& ratio) {
  const std::size_t rows = first.counts.size(), width = second.counts.size();
  std::vector<double> by_row(rows), by_column(width);
  double sum = 0;
  for (std::size_t i = 0; i < pair.counts.size(); ++i) {
    by_row[i / width] += pair.counts[i];
    by_column[i % width] += pair.counts[i];
    sum += pair.counts[i];
  }
  if (!(sum > 0)) return;
  const auto times = [&](std::size_t i) { return ratio.empty() ? 1 : ratio[i]; };
  double square = 0;
  std::vector<double> residual(pair.counts.size());
  for (std::size_t i = 0; i < pair.counts.size(); ++i) {
    residual[i] = pair.counts[i] - by_row[i / width] * by_column[i % width] / sum * times(i);
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
    pair.counts[i] =
        total * by_row[i / width] * by_column[i % width] * times(i) + kept * residual[i];
}

std::vector<double> with_margins(std::vector<double> table, const std::vector<double>& rows,
                                 const std::vector<double>& columns) {
  constexpr int kRounds = 30;
  const std::size_t width = columns.size();
  for (int round = 0; round < kRounds; ++round) {
    std::vector<double> row(rows.size()), column(width);
    for (std::size_t i = 0; i < table.size(); ++i) row[i / width] += table[i];
    for (std::size_t i = 0; i < table.size(); ++i)
      column[i % width] += table[i] *= rows[i / width] / row[i / width];
    for (std::size_t i = 0; i < table.size(); ++i)
      table[i] *= columns[i % width] / column[i % width];
  }
  return table;
}

void shrink(Marginal& marginal, const std::vector<std::vector<double>>& shares, double total) {
  std::vector<double> product = {total};
  for (const std::vector<double>& share : shares) {
    std::vector<double> finer;
    for (const double x : product)
      for (const double p : share) finer.push_back(x * p);
    product = std::move(finer);
  }
  double square = 0;
  for (std::size_t i = 0; i < product.size(); ++i) {
    const double residual = marginal.counts[i] - product[i];
    square += residual * residual;
  }
  const double freedom = static_cast<double>(product.size() - 1);
  const double kept =
      square > 0 ? std::max(0.0, 1 - freedom * marginal.deviation * marginal.deviation / square)
                 : 0;
  for (std::size_t i = 0; i < product.size(); ++i)
    marginal.counts[i] = product[i] + kept * (marginal.counts[i] - product[i]);
}

}  // namespace sotto
