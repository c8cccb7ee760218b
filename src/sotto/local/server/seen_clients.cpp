#include "sotto/local/server/seen_clients.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <utility>

#include "sotto/core/digest.hpp"
#include "sotto/core/error.hpp"

namespace sotto::local {
namespace {

constexpr SeenClients::Digest kEmpty{0, 0};

SeenClients::Digest* map_table(std::uint64_t capacity) {
  constexpr std::size_t kSmall = std::size_t{1} << 20;  // bytes that may stay in memory
  const std::size_t bytes = capacity * sizeof(SeenClients::Digest);
  if (bytes <= kSmall) {
    void* zeros =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (zeros != MAP_FAILED) return static_cast<SeenClients::Digest*>(zeros);
  }
  std::FILE* file = std::tmpfile();  // zeros, and gone when unmapped
  void* memory = MAP_FAILED;
  if (file != nullptr && ::ftruncate(::fileno(file), static_cast<off_t>(bytes)) == 0)
    memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ::fileno(file), 0);
  if (file != nullptr) std::fclose(file);
  if (memory == MAP_FAILED)
    throw StorageError("cannot make a temporary file for the clients that have reported",
                       "set TMPDIR to a directory with room");
  return static_cast<SeenClients::Digest*>(memory);
}

}  // namespace

SeenClients::Digest SeenClients::digest(std::string_view client, std::uint64_t epoch) {
  const std::string hex = sha256(fmt::format("{} {}", epoch, client));
  Digest d{std::stoull(hex.substr(0, 16), nullptr, 16),
           std::stoull(hex.substr(16, 16), nullptr, 16)};
  if (d == kEmpty) d[1] = 1;
  return d;
}

SeenClients::~SeenClients() {
  if (table_ != nullptr) ::munmap(table_, capacity_ * sizeof(Digest));
}

SeenClients::SeenClients(SeenClients&& other) noexcept
    : table_(std::exchange(other.table_, nullptr)),
      capacity_(std::exchange(other.capacity_, 0)),
      size_(std::exchange(other.size_, 0)) {}

SeenClients& SeenClients::operator=(SeenClients&& other) noexcept {
  std::swap(table_, other.table_);
  std::swap(capacity_, other.capacity_);
  std::swap(size_, other.size_);
  return *this;
}

SeenClients::Digest* SeenClients::place(const Digest& digest) const {
  std::uint64_t at = digest[0] & (capacity_ - 1);
  while (table_[at] != kEmpty && table_[at] != digest) at = (at + 1) & (capacity_ - 1);
  return table_ + at;
}

bool SeenClients::contains(const Digest& digest) const {
  return capacity_ > 0 && *place(digest) == digest;
}

bool SeenClients::insert(const Digest& digest) {
  if (2 * size_ >= capacity_) grow();
  Digest* at = place(digest);
  if (*at == digest) return false;
  *at = digest;
  ++size_;
  return true;
}

void SeenClients::grow() {
  SeenClients larger;
  larger.capacity_ = capacity_ == 0 ? 4096 : 2 * capacity_;
  larger.table_ = map_table(larger.capacity_);
  for_each([&](const Digest& d) { *larger.place(d) = d; });
  larger.size_ = size_;
  *this = std::move(larger);
}

void SeenClients::for_each(const std::function<void(const Digest&)>& visit) const {
  for (std::uint64_t i = 0; i < capacity_; ++i)
    if (table_[i] != kEmpty) visit(table_[i]);
}

}  // namespace sotto::local
