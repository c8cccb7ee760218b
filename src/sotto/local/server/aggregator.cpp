#include "sotto/local/server/aggregator.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sotto/core/error.hpp"

namespace sotto::local {

Aggregator::Aggregator(std::uint64_t cells) {
  if (cells > kMostCells)
    throw DataError(
        fmt::format("the protocol needs {} cells; at most {} are allowed", cells, kMostCells));
  cells_.assign(cells, 0);
}

void Aggregator::merge(std::uint64_t reports, std::span<const std::int64_t> cells) {
  if (cells.size() != cells_.size())
    throw DataError("the accumulator does not have the size of its protocol");
  merge_cells(reports, 0, cells);
  merge_reports(reports);
}

void Aggregator::merge_cells(std::uint64_t reports, std::size_t first,
                             std::span<const std::int64_t> cells) {
  settle();
  if (reports > kMostReports || cells.size() > cells_.size() - first)
    throw DataError("the accumulator does not have the size of its protocol");
  const auto n = static_cast<int128>(reports);
  for (const std::int64_t cell : cells)
    if (cell < -n * most_down() || cell > n * most_up())
      throw DataError("the accumulator has counts that its reports cannot have made");
  for (std::size_t i = 0; i < cells.size(); ++i)
    if (__builtin_add_overflow(cells_[first + i], cells[i], &cells_[first + i]))
      throw DataError("the accumulators are too large to be added");
}

void Aggregator::merge_reports(std::uint64_t reports) {
  if (reports > kMostReports - std::min(reports_, kMostReports))
    throw DataError("there are too many reports");
  reports_ += reports;
}

double support_variance(double p, double q, double share) {
  const double gap = p - q;
  return q * (1 - q) / (gap * gap) + share * (1 - p - q) / gap;
}

}  // namespace sotto::local
