// Detail: which positions of a record hold the same token, in one pass over a hash table that stays
// in the first-level cache.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace sotto::deep {

class EqualTokens {
 public:
  explicit EqualTokens(std::int64_t positions)
      : shift_(64 -
               static_cast<int>(std::bit_width(static_cast<std::uint64_t>(2 * positions + 1)))),
        slots_(std::size_t{1} << (64 - shift_)),
        next_(static_cast<std::size_t>(positions)),
        tail_(next_.size()) {}

  // Chains equal tokens, in order; `padding` belongs to no chain.
  void find(const std::int64_t* token, std::int64_t padding) {
    heads_.clear();
    ++record_;
    for (std::size_t s = 0; s < next_.size(); ++s) {
      next_[s] = -1;
      if (token[s] == padding) continue;
      std::size_t at = (static_cast<std::uint64_t>(token[s]) * 0x9e3779b97f4a7c15u) >> shift_;
      while (slots_[at].record == record_ && token[slots_[at].head] != token[s])
        at = (at + 1) & (slots_.size() - 1);
      if (slots_[at].record != record_) {
        slots_[at] = {record_, s};
        heads_.push_back(static_cast<std::int64_t>(s));
      } else {
        next_[tail_[slots_[at].head]] = static_cast<std::int64_t>(s);
      }
      tail_[slots_[at].head] = s;
    }
  }

  const std::vector<std::int64_t>& heads() const { return heads_; }  // one position for each token
  std::int64_t next(std::int64_t s) const { return next_[static_cast<std::size_t>(s)]; }  // or −1

 private:
  struct Slot {
    std::uint64_t record = 0;  // the slot counts only in the record that wrote it
    std::size_t head = 0;
  };
  int shift_;
  std::vector<Slot> slots_;
  std::vector<std::int64_t> next_, heads_;
  std::vector<std::size_t> tail_;
  std::uint64_t record_ = 0;
};

}  // namespace sotto::deep
