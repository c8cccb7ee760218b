#include "sotto/models/linear/row_store.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <limits>
#include <mutex>
#include <new>

#include "sotto/core/error.hpp"
#include "sotto/core/nameless_file.hpp"

namespace sotto {
namespace {

constexpr std::size_t kBuffer = std::size_t{1} << 20;  // bytes written to the file at once

constexpr std::size_t kLargePage = std::size_t{2} << 20;

bool is_large(std::size_t bytes) { return bytes >= 2 * kLargePage; }

}  // namespace

void* detail::allocate_large(std::size_t bytes) {
  if (!is_large(bytes)) return ::operator new(bytes);
  void* memory = ::operator new (bytes, std::align_val_t{kLargePage});
  ::madvise(memory, bytes / kLargePage * kLargePage, MADV_HUGEPAGE);
  return memory;
}

void detail::free_large(void* memory, std::size_t bytes) noexcept {
  if (!is_large(bytes)) return ::operator delete(memory);
  ::operator delete (memory, std::align_val_t{kLargePage});
}

template <class T>
struct RowStore<T>::File {
  explicit File(int opened) : fd(opened) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    unmap();
    ::close(fd);
  }
  void unmap() {
    if (mapping != nullptr) ::munmap(mapping, mapped);
    mapping = nullptr;
  }
  // False when there is no room: what was written before stays as it is.
  bool write(std::span<const T> values) {
    const char* from = reinterpret_cast<const char*>(values.data());
    for (std::size_t left = values.size_bytes(); left > 0;) {
      const ssize_t n = ::write(fd, from, left);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      from += n;
      left -= static_cast<std::size_t>(n);
    }
    written += values.size();
    return true;
  }
  void read(std::span<T> values) const {
    char* to = reinterpret_cast<char*>(values.data());
    for (std::size_t done = 0; done < values.size_bytes();) {
      const ssize_t n =
          ::pread(fd, to + done, values.size_bytes() - done, static_cast<off_t>(done));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0)
        throw DataError(fmt::format("the temporary file for the encoded rows cannot be read: {}",
                                    std::strerror(errno)),
                        "name another directory in TMPDIR");
      done += static_cast<std::size_t>(n);
    }
  }

  int fd;
  void* mapping = nullptr;
  std::size_t mapped = 0;   // bytes
  std::size_t written = 0;  // values
  bool given_up = false;    // all values are in memory again
  std::mutex mutex;
};

template <class T>
RowStore<T>::RowStore(std::size_t memory_limit) : limit_(memory_limit) {}
template <class T>
RowStore<T>::RowStore(RowStore&&) noexcept = default;
template <class T>
RowStore<T>& RowStore<T>::operator=(RowStore&&) noexcept = default;
template <class T>
RowStore<T>::~RowStore() = default;

template <class T>
void RowStore<T>::reserve(std::size_t values) {
  if (values <= limit_ / sizeof(T)) memory_.reserve(values);
}

template <class T>
bool RowStore<T>::in_memory() const {
  return !file_ || file_->given_up;
}

template <class T>
std::span<T> RowStore<T>::extend(std::size_t values) {
  view_ = nullptr;
  if (!file_ && (size_ + values) * sizeof(T) > limit_) {
    if (const int fd = open_nameless_file(); fd >= 0) {
      file_ = std::make_unique<File>(fd);
      flush();
      memory_.shrink_to_fit();
    } else {
      limit_ = std::numeric_limits<std::size_t>::max();
    }
  }
  if (!in_memory() && memory_.size() * sizeof(T) >= kBuffer) flush();
  memory_.resize(memory_.size() + values);
  size_ += values;
  return std::span(memory_).last(values);
}

template <class T>
void RowStore<T>::append(std::span<const T> values) {
  const std::span<T> room = extend(values.size());
  std::copy(values.begin(), values.end(), room.begin());
}

template <class T>
void RowStore<T>::flush() const {
  file_->unmap();
  if (file_->write(memory_)) {
    memory_.clear();
  } else {
    give_up();
  }
}

template <class T>
void RowStore<T>::give_up() const {
  std::vector<T, Uncleared<T>> all;
  all.resize(file_->written + memory_.size());
  file_->read(std::span(all).first(file_->written));
  std::copy(memory_.begin(), memory_.end(),
            all.begin() + static_cast<std::ptrdiff_t>(file_->written));
  memory_ = std::move(all);
  file_->given_up = true;
}

template <class T>
const T* RowStore<T>::map() const {
  const auto show = [&](const T* view) {
    std::atomic_ref(view_).store(view, std::memory_order_release);
    return view;
  };
  if (!file_) return show(memory_.data());
  const std::lock_guard lock(file_->mutex);
  if (!file_->given_up && !memory_.empty()) flush();
  if (!file_->given_up && file_->mapping == nullptr) {
    file_->mapped = size_ * sizeof(T);
    void* mapping = ::mmap(nullptr, file_->mapped, PROT_READ, MAP_SHARED, file_->fd, 0);
    if (mapping == MAP_FAILED) {
      give_up();
    } else {
      file_->mapping = mapping;
    }
  }
  return show(file_->given_up ? memory_.data() : static_cast<const T*>(file_->mapping));
}

template <class T>
void RowStore<T>::done(std::size_t first, std::size_t count) const {
  if (!file_ || file_->mapping == nullptr) return;
  // Whole pages around the range, counted from the mapping, which begins with one; neighbours that
  // still read those at its ends read them again from the file.
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t begin = first * sizeof(T) / page * page;
  const std::size_t end = ((first + count) * sizeof(T) + page - 1) / page * page;
  ::madvise(static_cast<char*>(file_->mapping) + begin, end - begin, MADV_DONTNEED);
}

template class RowStore<float>;
template class RowStore<std::uint16_t>;

}  // namespace sotto
