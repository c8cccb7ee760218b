#include "sotto/core/nearest_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>
#include <vector>

namespace sotto {
namespace {

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

// Edits (insert, delete, change, swap of two neighbours) that turn one name into the other, letter
// case aside.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, last(b.size() + 1), row(b.size() + 1);  // last, row: of i − 1, i
  std::iota(row.begin(), row.end(), std::size_t{0});
  const auto same = [&](std::size_t i, std::size_t j) { return lower(a[i]) == lower(b[j]); };
  for (std::size_t i = 0; i < a.size(); ++i) {
    before = std::exchange(last, row);
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      row[j + 1] = std::min({last[j] + !same(i, j), row[j] + 1, last[j + 1] + 1});
      if (i > 0 && j > 0 && same(i, j - 1) && same(i - 1, j))
        row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
    }
  }
  return row.back();
}

}  // namespace

std::string nearest_name(std::string_view wanted, std::span<const std::string> known) {
  constexpr std::size_t kLongestName = 200;
  if (wanted.size() > kLongestName) return {};
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, wanted.size() / 3) + 1;
  for (const std::string& name : known) {
    if (name.empty() || name.size() > kLongestName) continue;
    const std::size_t d = distance(wanted, name);
    if (d < best_distance && d < name.size()) {
      best_distance = d;
      best = name;
    }
  }
  return best;
}

std::string name_hint(std::string_view wanted, std::span<const std::string> known,
                      std::string_view what) {
  if (const std::string near = nearest_name(wanted, known); !near.empty()) {
    return fmt::format("did you mean '{}'?", near);
  }
  constexpr std::size_t kShown = 20;
  const auto shown = known.first(std::min(kShown, known.size()));
  return fmt::format(
      "the {} are: {}{}", what, fmt::join(shown, ", "),
      known.size() > kShown ? fmt::format(" and {} more", known.size() - kShown) : std::string());
}

}  // namespace sotto
