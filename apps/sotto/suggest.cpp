#include "suggest.hpp"

#include <algorithm>

namespace sotto::cli {

std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before, previous(b.size() + 1), current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      current[j] = std::min(
          {previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        current[j] = std::min(current[j], before[j - 2] + 1);
      }
    }
    before = previous;
    previous = current;
  }
  return previous[b.size()];
}

std::string nearest(const std::string& typed, const std::vector<std::string>& known) {
  std::string best;
  std::size_t best_distance = std::clamp<std::size_t>(typed.size() / 3, 1, 3) + 1;
  for (const std::string& word : known) {
    const std::size_t distance = edit_distance(typed, word);
    if (distance < best_distance) {
      best_distance = distance;
      best = word;
    }
  }
  return best;
}

}  // namespace sotto::cli
