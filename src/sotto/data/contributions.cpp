#include "sotto/data/contributions.hpp"

namespace sotto {

void ContributionBound::add(std::string_view user, std::uint64_t hash) {
  auto& best = users_[std::string(user)];
  const Candidate candidate{hash, rows_++};
  if (best.size() < limit_) {
    best.push(candidate);
  } else if (candidate < best.top()) {
    best.pop();
    best.push(candidate);
  }
}

std::vector<bool> ContributionBound::kept() const {
  std::vector<bool> result(rows_, false);
  for (const auto& [user, best] : users_) {
    for (auto queue = best; !queue.empty(); queue.pop()) result[queue.top().second] = true;
  }
  return result;
}

std::uint64_t content_hash(std::span<const std::uint64_t> words) {
  std::uint64_t state = 0x243f6a8885a308d3;  // digits of pi: the fixed public key
  const auto mix = [&](std::uint64_t word) {
    state ^= word;
    state *= 0x9e3779b97f4a7c15;
    state ^= state >> 29;
    state *= 0xbf58476d1ce4e5b9;
    state ^= state >> 32;
  };
  for (const std::uint64_t word : words) mix(word);
  mix(words.size());
  return state;
}

}  // namespace sotto
