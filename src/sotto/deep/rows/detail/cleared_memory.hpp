// Detail: while a ClearedMemory lives, memory that LibTorch hands out on its thread is zero.
//
// An operation may return memory that it did not write to: empty tensors of every kind, work space
// among its results. Such memory comes from tensors that are gone, records among them.
#pragma once

namespace sotto::deep::rows {

class ClearedMemory {
 public:
  ClearedMemory() { ++alive_; }
  ~ClearedMemory() { --alive_; }
  ClearedMemory(const ClearedMemory&) = delete;
  ClearedMemory& operator=(const ClearedMemory&) = delete;

  // Stands between LibTorch and whatever hands out its memory; again, where somebody has put
  // another allocator in that place since.
  static void install();
  static bool wanted() { return alive_ > 0; }

 private:
  static inline thread_local int alive_ = 0;
};

}  // namespace sotto::deep::rows
