// The columns of a table as cells, and cells as text again. A pure function of the schema.
//
// What       Every column that is not ignored and names no user, in the order of the schema: a
//            categorical one has a cell for each value and for "other", a boolean two, and a third
//            where it may be missing. A numeric column between whole bounds at most kMostWhole
//            apart has a cell for each whole number and bins of what lies between two of them; any
//            other has equal bins of its bounds and a cell of its own for each bound, where clamped
//            values pile up. A date is the number of its day, a time that of its hours.
// Guarantee  Every record has exactly one cell in every column, whatever its cells are. What is
//            written for a cell depends on the schema and on fresh randomness.
// Method     Arithmetic on encoded cells, which the encoder has clamped. A number is drawn
//            uniformly from its bin, on a decimal grid that has at least a hundred points in it, so
//            that rounding moves nothing over the edge of a bin; a date is a whole day of it, a
//            time is written in minutes. "other" is written as an empty
//            cell, which reads as "other" again.
// Numerics   A number within 1e-6 of a whole one is that whole one.
// Reference  docs/math/synthesis.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sotto/core/rng.hpp"
#include "sotto/data/table.hpp"

namespace sotto {

class CellColumns {
 public:
  static constexpr double kMostWhole = 128;
  static constexpr std::uint32_t kMostCells = 65535;     // of a column
  static constexpr std::size_t kMostTogether = 1 << 20;  // of all columns
  static constexpr std::size_t kMostColumns = 256;

  // bins: of a numeric column that has no whole numbers. The encoder must have the basis `linear`.
  // Throws Unsupported beyond the limits.
  CellColumns(const Encoder& encoder, std::uint32_t bins);

  std::size_t columns() const { return columns_.size(); }
  const std::string& name(std::size_t column) const { return columns_[column].name; }
  std::uint32_t cells(std::size_t column) const { return columns_[column].cells; }
  bool is_numeric(std::size_t column) const { return columns_[column].numeric; }
  // Every so many cells there is one for a whole number; 0: of a column that has none.
  std::uint32_t stride(std::size_t column) const { return columns_[column].stride; }
  std::optional<std::size_t> target() const { return target_; }
  // Of the first cell of a column in a vector with one place for each cell of each column.
  std::size_t offset(std::size_t column) const { return columns_[column].offset; }
  std::size_t size() const { return size_; }

  // Of a number: where the middle of a cell lies between the bounds, 0 … 1, and how wide it is;
  // 0 for a cell of one number.
  double place(std::size_t column, std::uint32_t cell) const;
  double width(std::size_t column, std::uint32_t cell) const;

  // Not for null records.
  void read(const Table& table, std::size_t row, std::span<std::uint32_t> cells) const;
  // A cell as text for a CSV file.
  std::string text(std::size_t column, std::uint32_t cell, Rng& rng) const;
  // A cell as people call it: "Turin", "40", "20 to 30", "other".
  std::string label(std::size_t column, std::uint32_t cell) const;

 private:
  enum class From { dense, hot, target, group };
  enum class Written { number, day, time };
  struct Column {
    std::string name;
    From from = From::dense;
    std::size_t position = 0;  // among the dense values, one-hot columns or groups
    std::uint32_t first = 0;   // coordinate of the first category
    bool numeric = false;
    Written written = Written::number;
    DateOrder order = DateOrder::year_first;  // of a day
    std::uint32_t stride = 0, cells = 0;
    std::size_t offset = 0;
    double lower = 0, upper = 0;           // of a number
    std::vector<std::string> labels = {};  // of a category; an empty cell where there are no more
  };
  Column described(const ColumnSchema& column, const ColumnEncoder& encoder,
                   std::uint32_t bins) const;
  std::uint32_t cell_of(const Column& column, double place) const;
  // The one number of a cell that has no other, and the edges of a bin.
  static std::uint32_t unit_of(const Column& column, std::uint32_t cell);
  std::optional<double> only(const Column& column, std::uint32_t cell) const;
  std::pair<double, double> edges(const Column& column, std::uint32_t cell) const;
  static std::string written(const Column& column, double value);

  std::vector<Column> columns_;
  std::optional<std::size_t> target_;
  std::size_t size_ = 0;
  bool unit_scaling_;
};

}  // namespace sotto
