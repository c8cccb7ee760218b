#include "sotto/models/tree/detail/node_statistics.hpp"

#include <algorithm>
#include <cmath>

namespace sotto {

NodeStatistics::NodeStatistics(const BinnedColumns& columns, std::size_t classes)
    : columns_(columns), cells_(columns), classes_(classes) {}

void NodeStatistics::add(double target, std::span<std::int64_t> figures) const {
  if (classes_ > 0) {
    if (target >= 0 && target < static_cast<double>(classes_))
      figures[static_cast<std::size_t>(target)] += 1;
    return;
  }
  const std::int64_t y = std::llround(std::clamp(target, -1.0, 1.0) * static_cast<double>(kUnit));
  figures[0] += 1;
  figures[1] += y;
  figures[2] += y * y / kUnit;
}

std::vector<int128> NodeStatistics::collect(const BinnedRows& records,
                                            std::span<const TreeModel> trees,
                                            const Membership& membership, std::size_t depth) const {
  const std::size_t nodes = std::size_t{1} << depth;
  return records.sum(trees.size() * nodes * width(), [&](std::size_t row, auto cells, auto sums) {
    const auto target = static_cast<double>(records.target(row));
    membership.each(cells, target, [&](std::size_t tree) {
      const std::size_t node = tree * nodes + trees[tree].leaf(columns_, cells, depth);
      for (std::size_t j = 0; j < cells.size(); ++j) {
        const std::size_t cell = cells_.offset(j) + cells_.cell(j, cells[j].level);
        add(target, sums.subspan(node * width() + cell * figures(), figures()));
      }
    });
  });
}

double NodeStatistics::impurity(std::span<const double> figures) const {
  if (classes_ > 0) {
    double n = 0, squares = 0;
    for (const double count : figures) {
      n += count;
      squares += count * count;
    }
    return n > 0 ? (n - squares / n) / 2 : 0;
  }
  const double scale = static_cast<double>(kUnit), n = figures[0], sum = figures[1] / scale,
               squares = figures[2] / scale;
  return n > 0 ? std::max(0.0, squares - sum * sum / n) / 4 : 0;
}

std::vector<double> NodeStatistics::scores(std::span<const int128> own) const {
  const std::size_t f = figures();
  // All records of the node, from the cells of the first column.
  std::vector<double> all(f), yes(f), no(f);
  for (std::size_t l = 0; l < cells_.cells(0); ++l)
    for (std::size_t k = 0; k < f; ++k) all[k] += static_cast<double>(own[l * f + k]);
  std::vector<double> scores;
  scores.reserve(candidates().size());
  std::uint32_t column = static_cast<std::uint32_t>(-1), next = 0;
  for (const Question& q : candidates()) {
    const int128* const cells = own.data() + cells_.offset(q.column) * f;
    const std::uint32_t cell = cells_.cell(q.column, q.level);
    if (columns_.is_numeric(q.column)) {
      if (q.column != column) {
        column = q.column;
        next = 0;
        std::fill(no.begin(), no.end(), 0.0);
      }
      for (; next < cell; ++next)
        for (std::size_t k = 0; k < f; ++k) no[k] += static_cast<double>(cells[next * f + k]);
      for (std::size_t k = 0; k < f; ++k) yes[k] = all[k] - no[k];
      scores.push_back(-impurity(yes) - impurity(no));
    } else {
      std::vector<double> other(f);
      for (std::size_t k = 0; k < f; ++k) {
        yes[k] = static_cast<double>(cells[cell * f + k]);
        other[k] = all[k] - yes[k];
      }
      scores.push_back(-impurity(yes) - impurity(other));
    }
  }
  return scores;
}

}  // namespace sotto
