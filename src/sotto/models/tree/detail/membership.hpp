// Detail: which trees of a forest a record takes part in: all of them, or one that its own content
// decides.
//
// Disjoint: a hash under a key that was drawn for this run, of the record's own levels and target.
// What other records are plays no part, so that a record that comes or goes changes one tree, and
// its copies are in the same one. Nothing rests on the key being secret.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "sotto/core/rng.hpp"
#include "sotto/data/contributions.hpp"
#include "sotto/models/kernel/detail/binned_columns.hpp"

namespace sotto {

class Membership {
 public:
  static Membership all(std::size_t trees) { return {trees, false, 0}; }
  static Membership one_of(std::size_t trees, Rng& rng) { return {trees, true, rng.next_u64()}; }

  // visit(tree) for each tree of the record.
  template <class Visit>
  void each(std::span<const BinnedColumns::Cell> cells, double target, Visit&& visit) const {
    if (!disjoint_ || trees_ == 1) {
      for (std::size_t t = 0; t < trees_; ++t) visit(t);
      return;
    }
    std::vector<std::uint64_t> words = {key_, std::bit_cast<std::uint64_t>(target)};
    for (const BinnedColumns::Cell& cell : cells)
      words.push_back((std::uint64_t{cell.level} << 32) |
                      std::bit_cast<std::uint32_t>(cell.inside));
    visit(content_hash(words) % trees_);
  }

 private:
  Membership(std::size_t trees, bool disjoint, std::uint64_t key)
      : trees_(trees), disjoint_(disjoint), key_(key) {}

  std::size_t trees_;
  bool disjoint_;
  std::uint64_t key_;
};

}  // namespace sotto
