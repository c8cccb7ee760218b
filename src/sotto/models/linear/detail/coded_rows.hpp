// Records as one small integer for each column: what gradient descent reads of a table with many
// hat functions or categories.
//
// What       GradientRows over the codes of a CodeBook. A margin is a sum of table entries, one for
//            each column; a sum of slopes times rows is a histogram of slopes over levels, turned
//            into coordinates at its end.
// Guarantee  That of GradientRows: rows of norm ≤ 1 by the book, exact sums.
// Method     Time and memory grow with columns, not with coordinates: twenty numbers with their
//            hats are 340 coordinates, and 40 bytes. Second moments come from counts of pairs of
//            coarse levels: Σ x̂ x̂ᵀ over records whose numbers are rounded to the coarse levels,
//            which a metric can bear.
// Numerics   Margins are sums of multiples of 2^−40 whose absolute values add up to at most 2^12:
//            exact. Slopes are whole numbers of at most 2^22, added up in 64 bits for up to 2^41
//            records.
// Reference  docs/math/linear-models.md, section "Exact sums".
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sotto/models/linear/detail/code_book.hpp"
#include "sotto/models/linear/gradient_rows.hpp"

namespace sotto {

class CodedRows final : public GradientRows {
 public:
  CodedRows(const Encoder& encoder, double intercept);
  // None yet, with the book of another.
  explicit CodedRows(const CodedRows& alike, std::nullptr_t);

  // target_of: from the table's target to what the loss expects.
  using TargetOf = float (*)(double);
  void add_all(const Table& table, TargetOf target_of, unsigned threads);
  void append(const CodedRows& other);
  void reserve(std::size_t rows);

  std::vector<int128> weighted_sum(std::span<const double> parameters, std::size_t outputs,
                                   const Slopes& slopes, SlopeGrid grid,
                                   unsigned threads) const override;
  std::vector<int128> second_moments(double share, unsigned threads) const override;
  std::vector<std::uint32_t> private_squares(unsigned threads) const override;

 private:
  std::shared_ptr<const CodeBook> book_;
  RowStore<std::uint16_t> codes_;
};

}  // namespace sotto
