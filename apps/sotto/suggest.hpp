// The nearest of some words to a mistyped one, for "did you mean …?".
#pragma once

#include <string>
#include <vector>

namespace sotto::cli {

// Insertions, deletions, replacements and swaps of neighbours needed to turn one word into the
// other.
std::size_t edit_distance(const std::string& a, const std::string& b);

// Empty when none is near: more than a third of the letters (at least one, at most three) would
// have to change.
std::string nearest(const std::string& typed, const std::vector<std::string>& known);

}  // namespace sotto::cli
