// Bounds what one user contributes: keeps the records of each user that have the smallest hashes,
// at most `limit` of them.
#pragma once

#include <cstdint>
#include <queue>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sotto {

class ContributionBound {
 public:
  explicit ContributionBound(std::uint64_t limit) : limit_(limit) {}

  // Rows are numbered from 0, in order.
  void add(std::string_view user, std::uint64_t hash);
  // kept()[row], for all rows added.
  std::vector<bool> kept() const;

 private:
  using Candidate = std::pair<std::uint64_t, std::uint64_t>;  // hash, row: the largest on top
  std::uint64_t limit_, rows_ = 0;
  std::unordered_map<std::string, std::priority_queue<Candidate>> users_;
};

// A hash of 64-bit words that is the same on every machine. It spreads records evenly; nothing
// rests on it being hard to invert.
std::uint64_t content_hash(std::span<const std::uint64_t> words);

}  // namespace sotto
