// Detail: the questions whose answer the way to a node does not give yet.
//
// Who is "at or above 50" is at or above 30: asking that would leave one side of the node without
// any record, whatever the data. Which questions these are follows from those released before, so
// leaving them out costs nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "sotto/models/tree/detail/question_cells.hpp"
#include "sotto/models/tree/detail/tree_model.hpp"

namespace sotto {

// Of one node. Where every answer is known, all questions: each node asks one.
class OpenQuestions {
 public:
  // The node at this depth of a tree, counted from the left.
  OpenQuestions(const QuestionCells& cells, const TreeModel& tree, std::size_t depth,
                std::size_t node);

  // Places in cells.questions(), in their order.
  std::vector<std::size_t> places() const;
  // Columns that have one, how many a column has, and the place of one of them.
  const std::vector<std::size_t>& columns() const { return columns_; }
  std::size_t size(std::size_t column) const;
  std::size_t place(std::size_t column, std::size_t which) const;

 private:
  // Cells of a column that a record of the node may be in: from low to before high, but for these.
  struct Possible {
    std::uint32_t low = 0, high = 0;
    std::vector<std::uint32_t> excluded;  // in their order
  };
  void answer(const Question& question, bool yes);
  void list_columns();

  const QuestionCells& cells_;
  std::vector<Possible> possible_;
  std::vector<std::size_t> columns_;
  bool all_ = false;
};

}  // namespace sotto
