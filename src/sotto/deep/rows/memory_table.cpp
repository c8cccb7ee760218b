#include "sotto/deep/rows/memory_table.hpp"

#include <algorithm>

namespace sotto::deep::rows {

void MemoryTable::put(std::uint32_t index) {
  std::size_t at = place(keys_[index]);
  while (slots_[at] != kNone) at = (at + 1) & (slots_.size() - 1);
  slots_[at] = index;
}

Memory& MemoryTable::add(const c10::Storage& storage) {
  keys_.push_back(storage.unsafeGetStorageImpl());
  memory_.push_back({storage.getWeakStorageImpl()});
  if (2 * keys_.size() > slots_.size()) {
    slots_.assign(2 * slots_.size(), kNone);
    for (std::uint32_t i = 0; i < keys_.size(); ++i) put(i);
  } else {
    put(static_cast<std::uint32_t>(keys_.size() - 1));
  }
  return memory_.back();
}

void MemoryTable::clear() {
  std::fill(slots_.begin(), slots_.end(), kNone);
  keys_.clear();
  memory_.clear();
}

}  // namespace sotto::deep::rows
