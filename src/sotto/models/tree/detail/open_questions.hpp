// Detail: the questions whose answer the way to a node does not give yet.
//
// Who is "at or above 50" is at or above 30: asking that would leave one side of the node without
// any record, whatever the data. Which questions these are follows from those released before, so
// leaving them out costs nothing.
#pragma once

#include <vector>

#include "sotto/models/tree/detail/question_cells.hpp"
#include "sotto/models/tree/detail/tree_model.hpp"

namespace sotto {

// Of the node at this depth of a tree, counted from the left: places in cells.questions(), in their
// order. Where every answer is known, all of them.
std::vector<std::size_t> open_questions(const QuestionCells& cells, const TreeModel& tree,
                                        std::size_t depth, std::size_t node);

}  // namespace sotto
