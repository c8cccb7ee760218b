// Rows of numbers that are kept in memory while they are few and in a temporary file beyond, so
// that memory does not grow with their number.
//
// What       append() or extend() at the end, data() to read all of it, done() to give back the
//            memory of a range that was read.
// Guarantee  Bytes come back as they were stored. Resident memory is at most the limit plus what is
//            being read between two done(). How many rows there are is private: where no file can
//            be made, or the disk is full, rows stay in memory, so that a run on one record more
//            does not fail.
// Method     Beyond the limit everything moves to a file in TMPDIR (or /tmp) that only this user
//            may open and that has no name: it vanishes with the process, whatever ends it. Reading
//            maps the file; done() drops pages from the process, not from the file. Memory is not
//            cleared before it is written, and large pieces ask for large pages: the threads that
//            write it first are the ones that get it from the system.
// Numerics   None: nothing is computed here.
// Reference  docs/math/linear-models.md, section "Exact sums".
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace sotto {

namespace detail {
void* allocate_large(std::size_t bytes);
void free_large(void* memory, std::size_t bytes) noexcept;
}  // namespace detail

// Memory for numbers that are written before they are read: it is not cleared.
template <class T>
struct Uncleared {
  using value_type = T;
  Uncleared() = default;
  template <class U>
  Uncleared(const Uncleared<U>&) noexcept {}
  T* allocate(std::size_t count) {
    return static_cast<T*>(detail::allocate_large(count * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t count) noexcept {
    detail::free_large(memory, count * sizeof(T));
  }
  void construct(T*) noexcept {}
  void construct(T* to, T value) noexcept { *to = value; }
  bool operator==(const Uncleared&) const = default;
};

inline constexpr std::size_t kRowMemory = std::size_t{512} << 20;  // bytes

// T: float or std::uint16_t.
template <class T>
class RowStore {
 public:
  explicit RowStore(std::size_t memory_limit = kRowMemory);
  RowStore(RowStore&&) noexcept;
  RowStore& operator=(RowStore&&) noexcept;
  ~RowStore();

  void append(std::span<const T> values);
  // Room for so many values at the end, to be written before anything else is called.
  std::span<T> extend(std::size_t values);
  void reserve(std::size_t values);           // a hint
  std::size_t size() const { return size_; }  // numbers
  bool in_memory() const;

  // All values. Valid until the next append.
  const T* data() const {
    const T* view = std::atomic_ref(view_).load(std::memory_order_acquire);
    return view != nullptr ? view : map();
  }
  // The values [first, first + count) will not be read soon. Any thread.
  void done(std::size_t first, std::size_t count) const;

 private:
  struct File;
  const T* map() const;
  void flush() const;
  void give_up() const;  // everything back into memory

  std::size_t limit_, size_ = 0;
  mutable std::vector<T, Uncleared<T>> memory_;  // all values, or those not yet written to the file
  std::unique_ptr<File> file_;
  mutable const T* view_ = nullptr;  // read and written by any thread
};

}  // namespace sotto
