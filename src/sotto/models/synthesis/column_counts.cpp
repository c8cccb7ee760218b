#include "sotto/models/synthesis/detail/column_counts.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "sotto/models/synthesis/detail/density_fit.hpp"

namespace sotto {
namespace {

constexpr double kLeastLikely = 1e-9;  // of the records
constexpr double kSure = 3;            // standard deviations from which a count is told from noise

// Levels that add up to the total: those of many cells, noisier than others, give way most.
void reconcile(ColumnLevels& made, double total) {
  const std::vector<double> cells(made.noisy.begin(), made.noisy.end());
  made.counts = reconciled(made.counts, cells, total);
  double sum = 0, squares = 0;
  for (const double c : cells) sum += c, squares += c * c;
  if (made.levels > 1) made.deviation *= std::sqrt(1 - squares / (sum * sum));
}

}  // namespace

ColumnCounts::ColumnCounts(const CellColumns& cells, std::uint32_t coarse) : cells_(cells) {
  for (std::size_t j = 0; j < cells.columns(); ++j) {
    Column column{.offset = size_, .size = cells.cells(j)};
    // A bound has a cell of its own, which a rule of thumb about bins does not see.
    if (cells.is_numeric(j) && cells.cells(j) > coarse + 2) {
      column.between = cells.stride(j) > 0;
      // A part that no cell lies in is none: noise would make a level of it.
      std::uint32_t last = 0, parts = 0;
      for (std::uint32_t c = 0; c < cells.cells(j); ++c) {
        const auto part =
            std::min(coarse - 1, static_cast<std::uint32_t>(cells.place(j, c) * coarse));
        if (c == 0 || part != last) last = part, ++parts;
        column.part.push_back(parts - 1);
      }
      column.size = parts;
    }
    size_ += column.size;
    if (column.between) column.kinds = size_++, ++kinds_;
    columns_.push_back(std::move(column));
  }
}

void ColumnCounts::add(const Table& block, std::span<const std::int64_t> weight,
                       std::int64_t of_kinds, std::span<int128> total) const {
  std::vector<std::uint32_t> read(cells_.columns());
  for (std::size_t i = 0; i < block.rows(); ++i) {
    if (block.is_null(i)) continue;
    cells_.read(block, i, read);
    for (std::size_t j = 0; j < read.size(); ++j) {
      const Column& column = columns_[j];
      total[column.offset + (column.part.empty() ? read[j] : column.part[read[j]])] += weight[j];
      if (column.between)
        total[column.kinds] += read[j] % cells_.stride(j) == 0 ? of_kinds : -of_kinds;
    }
  }
}

double ColumnCounts::gaps(std::size_t j, std::span<const double> all, double deviation,
                          double total) const {
  if (!columns_[j].between) return 0;
  const double part = std::clamp((1 - all[columns_[j].kinds] / total) / 2, 0.0, 1.0);
  const double sure = kSure * deviation / (2 * total);
  return part <= 0.5 ? (part > sure ? part : 0) : (1 - part > sure ? part : 1);
}

ColumnLevels ColumnCounts::levels(std::size_t j, std::span<const double> counts, double deviation,
                                  double gaps, std::uint32_t few, double bar, double all) const {
  const CellOrder order = cells_.is_numeric(j) ? CellOrder::numbers : CellOrder::categories;
  return made_of(j, counts, deviation, gaps, all,
                 [&](std::span<const double> parts, double noise, std::uint32_t stride,
                     std::span<const double> likely) {
                   return grouped(parts, noise, order, stride, few, bar, likely);
                 });
}

ColumnLevels ColumnCounts::levels(std::size_t j, std::span<const double> counts, double deviation,
                                  double gaps, const ColumnLevels& known, double all) const {
  const std::vector<std::uint32_t>& part = columns_[j].part;
  std::vector<std::uint32_t> level = known.level;
  if (!part.empty()) {
    level.assign(columns_[j].size, 0);
    for (std::size_t c = 0; c < part.size(); ++c) level[part[c]] = known.level[c];
  }
  return made_of(j, counts, deviation, gaps, all,
                 [&](std::span<const double> parts, double noise, std::uint32_t stride,
                     std::span<const double> likely) {
                   return regrouped(parts, noise, stride, level, likely);
                 });
}

template <class Group>
ColumnLevels ColumnCounts::made_of(std::size_t j, std::span<const double> counts, double deviation,
                                   double gaps, double all, Group&& group) const {
  const Column& column = columns_[j];
  if (column.part.empty()) {
    ColumnLevels made = group(counts, deviation, cells_.stride(j), std::span<const double>());
    reconcile(made, all);
    return made;
  }
  std::vector<double> parts(counts.begin(), counts.end());
  std::optional<FittedDensity> density;
  std::vector<double> likely;
  if (parts.size() <= kMostParts) {
    density = fitted_density(parts, deviation, all);
    parts = density->parts;
    deviation = density->deviation;
    for (std::size_t i = 0; i < parts.size(); ++i)
      likely.push_back(std::max(density->parts[i], kLeastLikely * all));
  }
  ColumnLevels coarse = group(parts, deviation, 0u, likely);
  if (!density) reconcile(coarse, all);
  ColumnLevels made{.levels = coarse.levels,
                    .counts = coarse.counts,
                    .noisy = coarse.noisy,
                    .deviation = coarse.deviation};
  // Inside a part cells share as is likely, in proportion to their widths where there are any.
  const auto is_gap = [&](std::size_t c) { return column.between && c % cells_.stride(j) != 0; };
  std::vector<double> wholes(parts.size()), rest(parts.size());
  const auto weight = [&](std::uint32_t c) {
    return (density ? density->at(cells_.place(j, c)) : 1) *
           (column.between ? 1.0 : cells_.width(j, c));
  };
  for (std::uint32_t c = 0; c < column.part.size(); ++c)
    (is_gap(c) ? rest : wholes)[column.part[c]] += weight(c);
  for (std::uint32_t c = 0; c < column.part.size(); ++c) {
    const std::uint32_t p = column.part[c];
    made.level.push_back(coarse.level[p]);
    // A part without one or the other gives all to what it has.
    const double kind = !column.between ? 1
                        : is_gap(c)     ? (wholes[p] > 0 ? gaps : 1)
                        : rest[p] > 0   ? 1 - gaps
                                        : 1;
    const double total = (is_gap(c) ? rest : wholes)[p];
    made.share.push_back(total > 0 ? coarse.share[p] * kind * weight(c) / total : 0);
  }
  return made;
}

}  // namespace sotto
