#include "sotto/models/tree/detail/noisy_gains.hpp"

#include <algorithm>
#include <cmath>

namespace sotto {
namespace {

// n·entropy, Gini's impurity, or minus the explained sum of squares, of one side.
double impurity(std::span<const double> side, bool number, Criterion criterion, double noise) {
  if (number) return side[0] > 0 ? -side[1] * side[1] / (side[0] + noise) / 4 : 0;
  double n = 0, squares = 0;
  for (const double count : side) {
    n += std::max(0.0, count);
    squares += std::max(0.0, count) * std::max(0.0, count);
  }
  if (n <= 0) return 0;
  return criterion == Criterion::gini ? (n - squares / n) / 2 : n * entropy(side);
}

double records(std::span<const double> side, bool number) {
  double n = 0;
  for (std::size_t k = 0; k < (number ? 1 : side.size()); ++k) n += side[k];
  return n;
}

}  // namespace

double entropy(std::span<const double> counts) {
  double n = 0, bits = 0;
  for (const double c : counts) n += std::max(0.0, c);
  for (const double c : counts)
    if (c > 0) bits -= c / n * std::log2(c / n);
  return bits;
}

std::vector<double> noisy_gains(const QuestionCells& columns, std::span<const double> cells,
                                std::size_t figures, bool number, Criterion criterion,
                                double noise) {
  std::vector<double> gains, all(figures), yes(figures), no(figures);
  std::uint32_t column = static_cast<std::uint32_t>(-1), next = 0;
  for (const Question& q : columns.questions()) {
    const double* const own = cells.data() + columns.offset(q.column) * figures;
    const std::uint32_t levels = columns.cells(q.column), cell = columns.cell(q.column, q.level);
    if (q.column != column) {
      column = q.column;
      next = 0;
      std::fill(all.begin(), all.end(), 0.0);
      std::fill(no.begin(), no.end(), 0.0);
      for (std::size_t i = 0; i < levels * figures; ++i) all[i % figures] += own[i];
    }
    double summed = 1;  // cells on the smaller side
    if (columns.is_numeric(q.column)) {
      for (; next < cell; ++next)
        for (std::size_t k = 0; k < figures; ++k) no[k] += own[next * figures + k];
      for (std::size_t k = 0; k < figures; ++k) yes[k] = all[k] - no[k];
      summed = std::min(cell, levels - cell);
    } else {
      for (std::size_t k = 0; k < figures; ++k) {
        yes[k] = own[cell * figures + k];
        no[k] = all[k] - yes[k];
      }
    }
    const double doubt = noise * std::sqrt(summed);
    const bool tells = records(yes, number) > doubt && records(no, number) > doubt;
    gains.push_back(tells ? impurity(all, number, criterion, noise) -
                                impurity(yes, number, criterion, noise) -
                                impurity(no, number, criterion, noise)
                          : -1);
  }
  return gains;
}

}  // namespace sotto
