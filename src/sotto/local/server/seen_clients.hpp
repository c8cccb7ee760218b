// Which client has reported in which epoch: so that nobody counts twice.
//
// What       insert() says whether the pair is new. Pairs are kept as the first 128 bits of a
//            SHA-256.
// Guarantee  A repeated pair is always noticed. A new one is taken for a repeated one with
//            probability below 2^-60 for a billion clients.
// Method     Open addressing in a mapped nameless temporary file: the system may write it out, so
//            that the memory of a collector does not grow with the number of clients.
// Numerics   At most half of the places are taken; the table doubles.
// Reference  docs/local.md.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace sotto::local {

class SeenClients {
 public:
  using Digest = std::array<std::uint64_t, 2>;  // never {0, 0}
  static Digest digest(std::string_view client, std::uint64_t epoch);

  SeenClients() = default;
  ~SeenClients();
  SeenClients(SeenClients&& other) noexcept;
  SeenClients& operator=(SeenClients&& other) noexcept;

  bool insert(const Digest& digest);  // false: it was there already
  bool contains(const Digest& digest) const;
  std::uint64_t size() const { return size_; }
  void for_each(const std::function<void(const Digest&)>& visit) const;

 private:
  Digest* place(const Digest& digest) const;  // where it is, or the empty place for it
  void grow();

  Digest* table_ = nullptr;
  std::uint64_t capacity_ = 0, size_ = 0;  // capacity_: a power of two
};

}  // namespace sotto::local
