#include "sotto/data/label_index.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "sotto/core/error.hpp"

namespace sotto {

// Eight bytes at a time; the last eight may overlap the ones before.
std::uint64_t LabelIndex::hash_of(std::string_view text) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
  const auto word = [&](std::size_t at, std::size_t bytes) {
    std::uint64_t w = 0;
    std::memcpy(&w, text.data() + at, bytes);
    return w;
  };
  const std::size_t n = text.size();
  std::uint64_t hash = n * kOdd;
  const auto mix = [&](std::uint64_t w) { hash = (std::rotl(hash, 23) ^ w) * kOdd; };
  if (n >= 8) {
    for (std::size_t at = 0; at + 8 < n; at += 8) mix(word(at, 8));
    mix(word(n - 8, 8));
  } else if (n >= 4) {
    mix(word(0, 4) | word(n - 4, 4) << 32);
  } else if (n > 0) {
    mix(word(0, 1) | word(n / 2, 1) << 8 | word(n - 1, 1) << 16);
  }
  return hash ^ hash >> 32;
}

LabelIndex::LabelIndex(const std::vector<std::string>& labels,
                       const std::vector<std::string>& hidden) {
  if (labels.size() >= kFree / 4) throw InvalidArgument("there are too many labels");
  slots_.resize(std::bit_ceil(2 * labels.size() + 1));
  for (std::uint32_t i = 0; i < labels.size(); ++i) {
    const std::string& label = labels[i];
    if (find(label) || std::find(hidden.begin(), hidden.end(), label) != hidden.end()) continue;
    if (label.size() > std::numeric_limits<std::uint32_t>::max() - texts_.size())
      throw InvalidArgument("the labels are longer than 4 GiB together");
    const std::uint64_t hash = hash_of(label);
    std::size_t at = hash & (slots_.size() - 1);
    while (slots_[at].index != kFree) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = {hash, static_cast<std::uint32_t>(texts_.size()),
                  static_cast<std::uint32_t>(label.size()), i};
    texts_ += label;
  }
}

std::optional<std::uint32_t> LabelIndex::find(std::string_view text) const {
  if (slots_.empty()) return std::nullopt;
  const std::uint64_t hash = hash_of(text);
  for (std::size_t at = hash;; ++at) {
    const Slot& slot = slots_[at & (slots_.size() - 1)];
    if (slot.index == kFree) return std::nullopt;
    if (slot.hash == hash && std::string_view(texts_).substr(slot.begin, slot.size) == text)
      return slot.index;
  }
}

}  // namespace sotto
