#include "sotto/models/linear/detail/row_selection.hpp"

namespace sotto {

ExactRows select_rows(const ExactRows& rows, std::span<const std::size_t> numbers) {
  // Rows lie on the grid inside the unit ball already: adding them again with norm bound 1 changes
  // no bit.
  ExactRows selected(rows.dimension(), 1, 0);
  selected.reserve(numbers.size());
  for (const std::size_t i : numbers) selected.add(rows.row(i), rows.target(i));
  return selected;
}

}  // namespace sotto
