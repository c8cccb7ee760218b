// AES-256 in counter mode as a stream of pseudo-random bytes (OpenSSL; several GB/s a core where
// AES instructions exist, and the same bytes twice as fast where they exist for vectors).
//
// The key never leaves the object; the state is wiped when the object ends. Counter mode
// repeats after 2^128 blocks.
// Not safe to use from two threads at once: give each thread its own.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>

namespace sotto {
namespace detail {
class WideAes;
}

class AesCtr {
 public:
  using Seed = std::array<std::byte, 48>;  // 32 bytes of key, 16 of counter

  // wide: false leaves it to OpenSSL in any case, for the test that compares the two.
  explicit AesCtr(const Seed& seed, bool wide = true);
  AesCtr(AesCtr&&) noexcept;
  AesCtr& operator=(AesCtr&&) noexcept;
  ~AesCtr();
  void fill(std::span<std::byte> out);
  static void wipe(
      Seed& seed);  // overwrites a seed that is no longer needed; the compiler may not leave it out

 private:
  struct Free {
    void operator()(void* context) const;
  };
  std::unique_ptr<void, Free> context_;  // OpenSSL's, where wide_ is not
  std::unique_ptr<detail::WideAes> wide_;
};

}  // namespace sotto
