// Prefixes: for questions about ranges of categories and for words that nobody has listed.
//
// What       A client draws a level and reports the prefix of its value up to that level, by local
//            hashing with few functions. Of a category: its highest bits, so that a prefix is a
//            node of the binary tree over all categories. Of a word: its first bytes.
// Guarantee  That of local hashing with the whole ε: the level is drawn without a look at the value
//            and each client reports at one level only.
// Method     Level l of L is drawn uniformly; a node's key is made of the level and the prefix.
// Numerics   As local_hash.hpp.
// Reference  [WBLJ17], [CMM21]; docs/math/local-privacy.md.
#pragma once

#include <string>

#include "sotto/local/client/local_hash.hpp"

namespace sotto::local {

class LeveledHash final : public Randomizer {
 public:
  // categories = 0: words, of which `levels` bytes are looked at.
  LeveledHash(double epsilon, std::uint64_t categories, std::uint64_t levels, std::uint64_t buckets,
              std::uint64_t seeds);

  double epsilon() const override { return hash_.epsilon(); }
  std::size_t report_bytes() const override { return 1 + hash_.report_bytes(); }
  void answer(const Value& value, Memory* memory, Rng& rng,
              std::span<std::uint8_t> report) const override;
  long double probability(const Value& value, Bytes report) const override;

  const LocalHash& hash() const { return hash_; }
  std::uint64_t levels() const { return levels_; }
  std::uint64_t categories() const { return categories_; }
  // Levels count from 1; at level l a node has the highest l bits of a category.
  std::uint64_t node_key(std::uint64_t level, std::uint64_t node) const;
  // The first `level` bytes of a word, zeros after its end.
  std::uint64_t prefix_key(std::uint64_t level, std::string_view word) const;

 private:
  std::uint64_t key(const Value& value, std::uint64_t level) const;
  std::uint64_t categories_, levels_;
  LocalHash hash_;
};

// Bits of the categories 0 … k − 1.
std::uint64_t tree_levels(std::uint64_t categories);

}  // namespace sotto::local
