// The columns of a table as levels: bins of numbers, values of categories. A pure function of the
// schema.
//
// What       A numeric column has kBins equal bins of its declared bounds, a categorical one its
//            declared values and "other" where there is one, a boolean three: no, yes, missing.
// Guarantee  Every record has exactly one level in every column, whatever its cells are.
// Method     Arithmetic on the encoded cells, which the encoder has clamped.
// Numerics   Sixteen bits a cell: a number's bin and which 256th of the bin it lies in, or a
//            category.
// Reference  docs/math/kernel.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sotto/data/table.hpp"

namespace sotto {

class BinnedColumns {
 public:
  static constexpr std::uint32_t kBins = 256;

  // The encoder must have the basis `linear`. Throws Unsupported for too many categories.
  explicit BinnedColumns(const Encoder& encoder);

  std::size_t columns() const { return columns_.size(); }
  std::uint32_t levels(std::size_t column) const { return columns_[column].levels; }
  // A record may have the first so many of them: no boolean is missing where the schema refuses it.
  std::uint32_t possible_levels(std::size_t column) const { return columns_[column].possible; }
  bool is_numeric(std::size_t column) const { return columns_[column].kind == Kind::numeric; }
  // Of the first level of a column in a vector with one place for each level of each column.
  std::size_t offset(std::size_t column) const { return columns_[column].offset; }
  std::size_t size() const { return size_; }

  struct Cell {
    std::uint32_t level = 0;
    float inside = 0.5f;  // where in its bin a number lies, 0 … 1
  };
  // As it is kept: one for each column of a record.
  using Code = std::uint16_t;
  Cell cell(std::size_t column, Code code) const {
    if (columns_[column].kind != Kind::numeric) return {code, 0.5f};
    return {static_cast<std::uint32_t>(code >> 8),
            (static_cast<float>(code & 0xff) + 0.5f) / 256.0f};
  }
  // Of a number: where a bin starts, as the encoder scales it.
  static double start_of(const Encoder& encoder, std::uint32_t level) {
    const double place = static_cast<double>(level) / static_cast<double>(kBins);
    return encoder.schema().scaling == Scaling::unit ? place : 2 * place - 1;
  }
  // Not for null records.
  void read(const Table& table, std::size_t row, std::span<Code> codes) const;
  void read(const Table& table, std::size_t row, std::span<Cell> cells) const;

 private:
  enum class Kind { numeric, categorical, boolean };
  struct Column {
    Kind kind;
    std::uint32_t levels, possible;
    std::size_t offset;
    std::uint32_t first;  // coordinate of the first category
  };
  std::vector<Column> columns_;
  std::size_t size_ = 0;
  bool unit_scaling_;
};

}  // namespace sotto
