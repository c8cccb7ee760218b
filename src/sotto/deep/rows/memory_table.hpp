// Detail: what is known of each piece of memory (storage) in one pass: public, or where its records
// lie.
//
// Records belong to memory, not to tensors: aliases, views and in-place writes then need no
// thought. An entry holds its storage weakly, so that the address cannot be given to another one
// while the table lives.
#pragma once

#include <c10/core/Storage.h>

#include <cstdint>
#include <string>
#include <vector>

#include "sotto/deep/rows/axis.hpp"

namespace sotto::deep::rows {

struct Memory {
  c10::weak_intrusive_ptr<c10::StorageImpl> alive;
  Layout layout = {};
  bool fixed =
      false;  // a parameter, a buffer or a declared constant: records are never written into it
  const std::string* name = nullptr;  // of the parameter or buffer
};

class MemoryTable {
 public:
  MemoryTable() : slots_(kLeast, kNone) {}
  Memory* find(const c10::StorageImpl* storage) {
    for (std::size_t at = place(storage);; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at] == kNone) return nullptr;
      if (keys_[slots_[at]] == storage) return &memory_[slots_[at]];
    }
  }
  // Its place in the order in which memory was met. Of a storage that is in the table.
  std::size_t index_of(const c10::StorageImpl* storage) {
    return static_cast<std::size_t>(find(storage) - memory_.data());
  }
  // Of a storage that is not in the table yet. Entries move: keep no pointers.
  Memory& add(const c10::Storage& storage);
  void clear();
  template <class Visit>
  void for_each(Visit&& visit) {
    for (Memory& m : memory_) visit(m);
  }

 private:
  static constexpr std::size_t kLeast = 256;
  static constexpr std::uint32_t kNone = ~0u;
  std::size_t place(const c10::StorageImpl* storage) const {
    return (reinterpret_cast<std::uintptr_t>(storage) * 0x9e3779b97f4a7c15u >> 32) &
           (slots_.size() - 1);
  }
  void put(std::uint32_t index);

  std::vector<const c10::StorageImpl*> keys_;
  std::vector<Memory> memory_;
  std::vector<std::uint32_t> slots_;  // open addressing; a power of two, at most half full
};

}  // namespace sotto::deep::rows
