// Detail: the counts of all columns as they are released, and the levels that follow from them.
//
// A column with few cells is counted cell by cell. A number with more than `coarse` of them is
// counted in so many equal parts of its bounds: the fewer counts, the less noise there is when they
// are put together into levels. Where whole numbers have cells of their own one more sum says how
// many records have one: +1 for each of them, −1 for each that lies between. What is counted how
// finely is a function of the schema.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "sotto/core/rng.hpp"
#include "sotto/data/table.hpp"
#include "sotto/models/synthesis/detail/cell_columns.hpp"
#include "sotto/models/synthesis/detail/level_groups.hpp"

namespace sotto {

class ColumnCounts {
 public:
  // cells must outlive it.
  ColumnCounts(const CellColumns& cells, std::uint32_t coarse);

  std::size_t size() const { return size_; }
  // How many columns have a sum of kinds beside their counts.
  std::size_t kinds() const { return kinds_; }
  std::size_t size(std::size_t column) const { return columns_[column].size; }
  // The counts of one column among all.
  std::span<const double> of(std::size_t column, std::span<const double> all) const {
    return all.subspan(columns_[column].offset, columns_[column].size);
  }

  // Adds the records of a block; in column j one counts weight[j] times, in a sum of kinds of_kinds
  // or −of_kinds times.
  void add(const Table& block, std::span<const std::int64_t> weight, std::int64_t of_kinds,
           std::span<int128> total) const;

  // The share of a column's records that lie between whole numbers, from its noisy sum of kinds
  // with this deviation; none or all where noise explains the rest.
  double gaps(std::size_t column, std::span<const double> all, double deviation,
              double total) const;

  // From noisy counts, with this deviation each, to levels of cells. bar: a count from which a
  // level stands alone, where it is below what is told from noise. all: the records; the counts of
  // the levels add up to them.
  ColumnLevels levels(std::size_t column, std::span<const double> counts, double deviation,
                      double gaps, std::uint32_t few, double bar, double all) const;
  // The same from better counts, for the levels that there are.
  ColumnLevels levels(std::size_t column, std::span<const double> counts, double deviation,
                      double gaps, const ColumnLevels& known, double all) const;

 private:
  // How parts are put together: (counts, deviation, stride, likely), part by part or cell by cell.
  template <class Group>
  ColumnLevels made_of(std::size_t column, std::span<const double> counts, double deviation,
                       double gaps, double all, Group&& group) const;

  struct Column {
    std::size_t offset = 0, size = 0;
    std::vector<std::uint32_t> part = {};  // of each cell; none: counted cell by cell
    bool between = false;                  // whole numbers and what lies between have cells
    std::size_t kinds = 0;                 // where their sum is
  };
  const CellColumns& cells_;
  std::vector<Column> columns_;
  std::size_t size_ = 0, kinds_ = 0;
};

}  // namespace sotto
