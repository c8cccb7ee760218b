// Detail: the cells that questions need: four bins of a number together, the levels of other
// columns as they are.
//
// Questions about a number are asked at the starts of these cells, so nothing finer has to be
// counted, or noised.
#pragma once

#include <cstdint>
#include <vector>

#include "sotto/models/kernel/detail/binned_columns.hpp"
#include "sotto/models/tree/detail/tree_model.hpp"

namespace sotto {

class QuestionCells {
 public:
  static constexpr std::uint32_t kBinsInOne = 4;

  explicit QuestionCells(const BinnedColumns& columns) {
    for (std::uint32_t j = 0; j < columns.columns(); ++j) {
      numeric_.push_back(columns.is_numeric(j));
      offset_.push_back(size_);
      cells_.push_back(columns.levels(j) / (columns.is_numeric(j) ? kBinsInOne : 1));
      size_ += cells_.back();
      for (std::uint32_t c = columns.is_numeric(j) ? 1 : 0; c < cells_.back(); ++c)
        questions_.push_back({j, columns.is_numeric(j) ? c * kBinsInOne : c});
    }
  }

  std::size_t size() const { return size_; }  // of all columns
  bool is_numeric(std::size_t column) const { return numeric_[column]; }
  std::size_t offset(std::size_t column) const { return offset_[column]; }
  std::uint32_t cells(std::size_t column) const { return cells_[column]; }
  // Of a level, inside of its column.
  std::uint32_t cell(std::size_t column, std::uint32_t level) const {
    return numeric_[column] ? level / kBinsInOne : level;
  }
  // All of them, column by column.
  const std::vector<Question>& questions() const { return questions_; }

 private:
  std::vector<bool> numeric_;
  std::vector<std::size_t> offset_;
  std::vector<std::uint32_t> cells_;
  std::size_t size_ = 0;
  std::vector<Question> questions_;
};

}  // namespace sotto
