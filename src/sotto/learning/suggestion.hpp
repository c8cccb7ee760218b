// Which family to take for a table, from public facts: rows, columns, classes and budget.
//
// What       Every family says how well it expects to do in a Situation; suggest() takes the best.
// Guarantee  Reads the schema and the request, nothing else, hence costs nothing.
// Method     One figure matters most: how many records there are for each unit of noise, n·μ, with
//            μ = √(2ρ) of the budget, or ε of a pure one. Merits are between 0 (cannot) and 1, by
//            rules that were settled on tables of many kinds (docs/math/choice-of-family.md).
// Numerics   None.
// Reference  docs/math/choice-of-family.md.
#pragma once

#include <span>
#include <string>

#include "sotto/learning/family.hpp"

namespace sotto {

struct Suggestion {
  const Family* family;
  std::string kind;
  std::string reason;  // in words, with the facts it rests on
};

Situation situation_of(const Facts& facts, const Budget& budget);

// Throws Unsupported when no family can, DataError when the number of rows is not declared.
Suggestion suggest(std::span<const Family> families, const Facts& facts, const Budget& budget);

}  // namespace sotto
