// Detail: the key stream of AES-256 in counter mode, four blocks in a register, for processors with
// vector AES instructions (VAES and AVX-512): twice the speed of one block in a register. The bytes
// are those of OpenSSL, which a test compares.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sotto::detail {

// Whether this processor has what the functions below need.
bool has_wide_aes();

class WideAes {
 public:
  WideAes(std::span<const std::byte, 32> key, std::span<const std::byte, 16> counter);
  ~WideAes();  // wipes key and state
  WideAes(const WideAes&) = delete;
  WideAes& operator=(const WideAes&) = delete;

  void fill(std::span<std::byte> out);

 private:
  using Block = std::array<std::byte, 16>;
  void blocks(std::byte* out, std::size_t count);

  alignas(16) std::array<Block, 15> keys_;  // of the rounds
  std::uint64_t high_ = 0, low_ = 0;        // the counter of the next block
  alignas(16) Block rest_;                  // of a block that was used in part
  std::size_t left_ = 0;                    // bytes of it that are not used yet
};

}  // namespace sotto::detail
