// Detail: the cells that questions need: four bins of a number together, the levels of other
// columns as they are.
//
// Questions about a number are asked at the starts of these cells, so nothing finer has to be
// counted, or noised. Nobody asks for a level that no record can have.
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
      first_question_.push_back(questions_.size());
      const std::uint32_t end = columns.is_numeric(j) ? cells_.back() : columns.possible_levels(j);
      for (std::uint32_t c = columns.is_numeric(j) ? 1 : 0; c < end; ++c)
        questions_.push_back({j, columns.is_numeric(j) ? c * kBinsInOne : c});
    }
    first_question_.push_back(questions_.size());
  }

  std::size_t size() const { return size_; }  // of all columns
  bool is_numeric(std::size_t column) const { return numeric_[column]; }
  std::size_t offset(std::size_t column) const { return offset_[column]; }
  std::uint32_t cells(std::size_t column) const { return cells_[column]; }
  // A record may be in the first so many of them.
  std::uint32_t possible_cells(std::size_t column) const {
    return numeric_[column] ? cells_[column] : static_cast<std::uint32_t>(questions_of(column));
  }
  // Of a level, inside of its column.
  std::uint32_t cell(std::size_t column, std::uint32_t level) const {
    return numeric_[column] ? level / kBinsInOne : level;
  }
  std::size_t columns() const { return numeric_.size(); }
  // All of them, column by column, each about a cell and in their order: of a number from the
  // second cell on.
  const std::vector<Question>& questions() const { return questions_; }
  std::size_t first_question(std::size_t column) const { return first_question_[column]; }
  std::size_t questions_of(std::size_t column) const {
    return first_question_[column + 1] - first_question_[column];
  }

 private:
  std::vector<bool> numeric_;
  std::vector<std::size_t> offset_, first_question_;
  std::vector<std::uint32_t> cells_;
  std::size_t size_ = 0;
  std::vector<Question> questions_;
};

}  // namespace sotto
