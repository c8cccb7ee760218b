// A number as it stands in a cell: decimal, with spaces around it allowed, independent of the
// locale.
#pragma once

#include <string>
#include <string_view>

namespace sotto {

enum class CellKind {
  number,      // a finite number
  missing,     // nothing but spaces
  not_finite,  // nan, inf, or too large for a double
  text,        // anything else
};

struct NumberCell {
  CellKind kind;
  double value = 0;  // meaningful for CellKind::number only
};

// Correctly rounded; a number too small for a double is zero.
NumberCell parse_number(std::string_view cell);

// The cell of a file with decimal commas as parse_number reads it: in what has digits and is made
// of the characters of numbers, comma and point change places, so that "1,5" is a number and
// "1.500" is none. Anything else stays as it is. `scratch` holds the result where it differs.
std::string_view with_point(std::string_view cell, std::string& scratch);

// Without the spaces and tabs around it.
constexpr std::string_view trimmed(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace sotto
