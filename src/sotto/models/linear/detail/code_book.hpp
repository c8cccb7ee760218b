// Codes for the cells of encoded records: each column has a few hundred levels, each level a short
// list of coordinates of the row.
//
// What       A number is rounded to one of its levels, a category is a level. A record is then one
//            small integer for each column, and its row, with all hat functions (hat_basis.hpp) and
//            one-hot coordinates, follows from the book.
// Guarantee  A public function of the encoder and the intercept. For every choice of one level in
//            each column the row has ℓ2 norm ≤ 1 exactly: the largest squared norms of the levels
//            of all columns add up to at most 1, in integers. Level 0 of each column is null: a
//            null record has no coordinate at all, the intercept included.
// Method     Levels of a number are as dense as its hats bend: 1 + 1000·|t − c|/r is rounded to 7
//            significant bits, as on the logarithmic scale of the hats, so that the linear
//            scale moves by 0.4 % of the range at most. Without hats 1024 even levels.
//            For second moments (coarse()) a number has at most kCoarse levels: the peaks of its
//            hats and the middles between them.
// Numerics   Coordinates are truncated to multiples of 2^−16, towards zero.
// Reference  docs/math/linear-models.md, section "Exact sums".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sotto/data/table.hpp"
#include "sotto/models/linear/detail/level_kernels.hpp"

namespace sotto {

class CodeBook {
 public:
  // Whether records are shorter as codes: a public question. Rows that are scaled down to a
  // feature_norm, and hashed texts, are not sums over columns.
  static bool fits(const Encoder& encoder);

  // scale: encoded feature → unit ball; the intercept is one more column.
  CodeBook(const Encoder& encoder, double intercept, double scale);

  std::size_t columns() const { return columns_.size(); }  // with the intercept
  std::size_t levels() const { return first_entry_.size() - 1; }

  // The levels of a record, one for each column: all level 0 of theirs for a null record.
  void write(const Table& table, std::size_t row, std::span<std::uint16_t> levels) const;

  // The coordinates of a level that are not 0, in units of 2^−16.
  struct Entry {
    std::uint32_t coordinate;
    std::int32_t value;
  };
  std::span<const Entry> entries(std::size_t level) const {
    return {entries_.data() + first_entry_[level], first_entry_[level + 1] - first_entry_[level]};
  }

  // The coarse level of each level, counted from 0 in each column; the level that stands for it.
  static constexpr std::size_t kCoarse = 32;  // of a number
  std::span<const std::uint16_t> coarse() const { return coarse_; }
  struct Column {
    std::size_t first = 0, levels = 0;       // 0 is null
    std::vector<std::uint16_t> stands = {};  // for the coarse levels
    enum class Kind { intercept, categorical, boolean, even, bent } kind = Kind::even;
    double center = 0, reach = 1, per_reach = 1;
    bool unit = false;  // numbers come in [0, 1]
    std::size_t coordinate = 0;
    std::size_t level(double value) const;  // of a number, without `first`
    double value(std::size_t level) const;  // with the bounds at −1 and 1
  };
  const Column& column(std::size_t c) const { return columns_[c]; }

 private:
  void add_column(Column column);
  void add_level(std::span<const Entry> entries);
  void add_numbers(const Encoder& encoder, std::size_t feature, std::size_t dense, double scale);
  void choose_coarse(std::size_t column, std::span<const double> values);
  void shrink();

  std::vector<Column> columns_;
  detail::BentScales bent_;  // of all columns but the intercept, where all are bent
  std::vector<Entry> entries_;
  std::vector<std::size_t> first_entry_ = {0};
  std::vector<std::uint16_t> coarse_;
};

}  // namespace sotto
