#include "sotto/models/tree/detail/open_questions.hpp"

#include <algorithm>

namespace sotto {

OpenQuestions::OpenQuestions(const QuestionCells& cells, const TreeModel& tree, std::size_t depth,
                             std::size_t node)
    : cells_(cells), possible_(cells.columns()) {
  for (std::size_t j = 0; j < possible_.size(); ++j) possible_[j].high = cells.possible_cells(j);
  for (std::size_t level = 0, i = 0; level < depth; ++level) {
    const bool yes = (node >> (depth - 1 - level)) & 1;
    answer(tree.questions[i], yes);
    i = 2 * i + (yes ? 2 : 1);
  }
  list_columns();
  if (!columns_.empty()) return;
  all_ = true;
  list_columns();
}

void OpenQuestions::answer(const Question& question, bool yes) {
  const std::uint32_t asked = cells_.cell(question.column, question.level);
  Possible& p = possible_[question.column];
  if (cells_.is_numeric(question.column)) {
    if (yes) p.low = std::max(p.low, asked);
    if (!yes) p.high = std::min(p.high, asked);
    return;
  }
  const auto place = std::lower_bound(p.excluded.begin(), p.excluded.end(), asked);
  const bool may_be =
      p.low <= asked && asked < p.high && (place == p.excluded.end() || *place != asked);
  if (yes) {
    p = {asked, may_be ? asked + 1 : asked, {}};
  } else if (may_be) {
    p.excluded.insert(place, asked);
  }
}

void OpenQuestions::list_columns() {
  for (std::size_t j = 0; j < possible_.size(); ++j)
    if (size(j) > 0) columns_.push_back(j);
}

// A number has a question between any two neighbours of its cells, a category one for each of them.
std::size_t OpenQuestions::size(std::size_t column) const {
  if (all_) return cells_.questions_of(column);
  const Possible& p = possible_[column];
  const std::size_t cells = p.high > p.low ? p.high - p.low - p.excluded.size() : 0;
  if (cells < 2) return 0;
  return cells_.is_numeric(column) ? cells - 1 : cells;
}

std::size_t OpenQuestions::place(std::size_t column, std::size_t which) const {
  const std::size_t first = cells_.first_question(column);
  if (all_) return first + which;
  const Possible& p = possible_[column];
  std::size_t cell = p.low + which;  // the first question of a number is at the start of cell 1
  for (const std::uint32_t none : p.excluded)
    if (none <= cell) ++cell;
  return first + cell;
}

std::vector<std::size_t> OpenQuestions::places() const {
  std::vector<std::size_t> all;
  for (const std::size_t column : columns_)
    for (std::size_t which = 0; which < size(column); ++which) all.push_back(place(column, which));
  return all;
}

}  // namespace sotto
