#include "sotto/models/synthesis/detail/level_groups.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sotto {
namespace {

constexpr double kSureLevel = 3;  // standard deviations from which a count is told from noise
constexpr double kLowestBar = 1e-3;

// The level of each cell in the order of the cells: a level ends once it has `bar` records, and
// before a cell that has so many alone.
std::uint32_t runs(std::span<const double> counts, double least, double bar,
                   std::vector<std::uint32_t>& level) {
  std::uint32_t levels = 0;
  double records = 0;
  bool open = false;
  for (std::size_t c = 0; c < counts.size(); ++c) {
    if (open && counts[c] >= bar && records >= least) {
      ++levels;
      open = false;
    }
    if (!open) records = 0;
    open = true;
    level[c] = levels;
    records += counts[c];
    if (records >= bar) {
      ++levels;
      open = false;
    }
  }
  if (!open) return std::max(1u, levels);
  if (levels == 0) return 1;
  // What is left over joins the last level.
  for (std::size_t c = counts.size(); c-- > 0 && level[c] == levels;) level[c] = levels - 1;
  return levels;
}

void group_numbers(std::span<const double> counts, double least, std::uint32_t few,
                   ColumnLevels& made) {
  const double lowest = std::max(least, kLowestBar);
  made.levels = runs(counts, least, lowest, made.level);
  if (made.levels <= few + few / 3) return;
  // Counts are finite, so a bar that rises ends it.
  for (double bar = lowest; made.levels > few; bar *= 1.1)
    made.levels = runs(counts, least, bar, made.level);
}

void group_categories(std::span<const double> counts, double least, ColumnLevels& made) {
  std::vector<std::uint32_t> order(counts.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return counts[a] > counts[b]; });
  std::vector<bool> alone(counts.size());
  for (std::size_t i = 0; i < order.size() && i + 1 < ColumnLevels::kMostCategories; ++i)
    alone[order[i]] = counts[order[i]] >= least;
  bool rest = false;
  for (std::size_t c = 0; c < counts.size(); ++c) {
    if (alone[c])
      made.level[c] = made.levels++;
    else
      rest = true;
  }
  for (std::size_t c = 0; c < counts.size(); ++c)
    if (!alone[c]) made.level[c] = made.levels;
  if (rest) ++made.levels;
}

// Whether there is more than noise between whole numbers; what there is otherwise is taken out.
bool has_gaps(std::vector<double>& counts, double deviation, std::uint32_t stride) {
  if (stride == 0) return true;
  double between = 0, parts = 0;
  for (std::size_t c = 0; c < counts.size(); ++c)
    if (c % stride != 0) between += counts[c], ++parts;
  if (between > kSureLevel * deviation * std::sqrt(parts)) return true;
  for (std::size_t c = 0; c < counts.size(); ++c)
    if (c % stride != 0) counts[c] = 0;
  return false;
}

// What each level has, and how it spreads over its cells.
void spread(std::span<const double> counts, double deviation, std::uint32_t stride, bool gaps,
            std::span<const double> likely, ColumnLevels& made) {
  const auto is_gap = [&](std::size_t c) { return stride > 0 && c % stride != 0; };
  made.share.resize(counts.size());
  made.counts.resize(made.levels);
  double noisy = 0;  // cells
  for (std::uint32_t l = 0; l < made.levels; ++l) {
    std::vector<std::size_t> cells;
    for (std::size_t c = 0; c < counts.size(); ++c)
      if (made.level[c] == l && (gaps || !is_gap(c))) cells.push_back(c);
    // A level of nothing but gaps is as likely as they are, which is not at all.
    if (cells.empty())
      for (std::size_t c = 0; c < counts.size(); ++c)
        if (made.level[c] == l) cells.push_back(c);
    const auto size = static_cast<double>(cells.size());
    noisy += size;
    made.noisy.push_back(static_cast<std::uint32_t>(cells.size()));
    for (const std::size_t c : cells) made.counts[l] += counts[c];
    double weights = 0, square = 0, total = 0;
    const auto weight = [&](std::size_t c) { return likely.empty() ? 1 : likely[c]; };
    for (const std::size_t c : cells) weights += weight(c);
    const auto mean = [&](std::size_t c) { return made.counts[l] * weight(c) / weights; };
    for (const std::size_t c : cells) square += std::pow(counts[c] - mean(c), 2);
    const double kept =
        square > 0 ? std::max(0.0, 1 - (size - 1) * deviation * deviation / square) : 0;
    for (const std::size_t c : cells)
      total += made.share[c] = std::max(0.0, mean(c) + kept * (counts[c] - mean(c)));
    for (const std::size_t c : cells)
      made.share[c] = total > 0 ? made.share[c] / total : weight(c) / weights;
  }
  made.deviation = deviation * std::sqrt(noisy / made.levels);
}

}  // namespace

ColumnLevels grouped(std::span<const double> given, double deviation, CellOrder order,
                     std::uint32_t stride, std::uint32_t few, double bar,
                     std::span<const double> likely) {
  few = std::clamp(few, 1u, ColumnLevels::kFewNumbers);
  std::vector<double> counts(given.begin(), given.end());
  const bool gaps = has_gaps(counts, deviation, stride);
  ColumnLevels made;
  made.level.resize(counts.size());
  const double least = std::min(kSureLevel * deviation, bar);
  if (order == CellOrder::categories)
    group_categories(counts, least, made);
  else
    group_numbers(counts, least, few, made);
  spread(counts, deviation, stride, gaps, likely, made);
  return made;
}

ColumnLevels regrouped(std::span<const double> given, double deviation, std::uint32_t stride,
                       std::span<const std::uint32_t> level, std::span<const double> likely) {
  std::vector<double> counts(given.begin(), given.end());
  const bool gaps = has_gaps(counts, deviation, stride);
  ColumnLevels made;
  made.level.assign(level.begin(), level.end());
  made.levels = *std::max_element(level.begin(), level.end()) + 1;
  spread(counts, deviation, stride, gaps, likely, made);
  return made;
}

}  // namespace sotto
