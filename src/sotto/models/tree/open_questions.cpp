#include "sotto/models/tree/detail/open_questions.hpp"

#include <algorithm>
#include <numeric>

namespace sotto {
namespace {

// The cells of each column that a record may be in.
class PossibleCells {
 public:
  explicit PossibleCells(const QuestionCells& cells) : cells_(cells), possible_(cells.size(), 1) {}

  void restrict_to(const Question& question, bool answer) {
    for (std::uint32_t cell = 0; cell < cells_.cells(question.column); ++cell)
      if (says_yes(question, cell) != answer) possible_[cells_.offset(question.column) + cell] = 0;
  }

  bool leaves_open(const Question& question) const {
    const auto first =
                   possible_.begin() + static_cast<std::ptrdiff_t>(cells_.offset(question.column)),
               last = first + cells_.cells(question.column),
               asked = first + cells_.cell(question.column, question.level);
    const auto any = [](auto from, auto to) { return std::find(from, to, 1) != to; };
    if (cells_.is_numeric(question.column)) return any(first, asked) && any(asked, last);
    return *asked && (any(first, asked) || any(asked + 1, last));
  }

 private:
  bool says_yes(const Question& question, std::uint32_t cell) const {
    const std::uint32_t asked = cells_.cell(question.column, question.level);
    return cells_.is_numeric(question.column) ? cell >= asked : cell == asked;
  }

  const QuestionCells& cells_;
  std::vector<char> possible_;
};

}  // namespace

std::vector<std::size_t> open_questions(const QuestionCells& cells, const TreeModel& tree,
                                        std::size_t depth, std::size_t node) {
  PossibleCells possible(cells);
  std::vector<bool> asked;  // columns on the way: all questions of others are open
  for (std::size_t level = 0, i = 0; level < depth; ++level) {
    const bool yes = (node >> (depth - 1 - level)) & 1;
    const Question& question = tree.questions[i];
    possible.restrict_to(question, yes);
    asked.resize(std::max<std::size_t>(asked.size(), question.column + 1));
    asked[question.column] = true;
    i = 2 * i + (yes ? 2 : 1);
  }
  std::vector<std::size_t> open;
  const auto& all = cells.questions();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool first = all[i].column >= asked.size() || !asked[all[i].column];
    if (first || possible.leaves_open(all[i])) open.push_back(i);
  }
  if (open.empty()) {
    open.resize(all.size());
    std::iota(open.begin(), open.end(), std::size_t{0});
  }
  return open;
}

}  // namespace sotto
