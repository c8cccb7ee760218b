#include "sotto/local/client/leveled_hash.hpp"

#include <bit>

#include "sotto/core/error.hpp"
#include "sotto/noise/uniform.hpp"

namespace sotto::local {

std::uint64_t tree_levels(std::uint64_t categories) {
  return static_cast<std::uint64_t>(std::bit_width(categories - 1));
}

LeveledHash::LeveledHash(double epsilon, std::uint64_t categories, std::uint64_t levels,
                         std::uint64_t buckets, std::uint64_t seeds)
    : categories_(categories), levels_(levels), hash_(epsilon, 0, buckets, seeds) {
  if (levels < 1 || levels > 64) throw InvalidArgument("there are 1 to 64 levels");
  if (categories > 0 && levels != tree_levels(categories))
    throw InvalidArgument("the tree has one level for each bit of a category");
}

std::uint64_t LeveledHash::node_key(std::uint64_t level, std::uint64_t node) const {
  return mixed(level << 32 ^ node);
}

std::uint64_t LeveledHash::prefix_key(std::uint64_t level, std::string_view word) const {
  std::string prefix(word.substr(0, level));
  prefix.resize(level, '\0');
  return key_of_word(prefix);
}

std::uint64_t LeveledHash::key(const Value& value, std::uint64_t level) const {
  if (categories_ == 0) return prefix_key(level, word(value));
  return node_key(level, category(value, categories_) >> (levels_ - level));
}

void LeveledHash::answer(const Value& value, Memory*, Rng& rng,
                         std::span<std::uint8_t> report) const {
  const std::uint64_t level = 1 + uniform_below(rng, levels_);
  report[0] = static_cast<std::uint8_t>(level);
  hash_.answer_key(key(value, level), rng, report.subspan(1));
}

long double LeveledHash::probability(const Value& value, Bytes report) const {
  return hash_.probability_of_key(key(value, report[0]), report.subspan(1));
}

}  // namespace sotto::local
