// StepStream: the random words of one step, under a key taken from the generator.
//
// How much of the generator a step uses does then not depend on how many words it needs, which may
// be private.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "sotto/core/aes_ctr.hpp"
#include "sotto/core/rng.hpp"

namespace sotto::deep {

class StepStream {
 public:
  explicit StepStream(Rng& rng) : stream_(keyed(rng)) {}

  std::uint64_t next() {
    if (at_ == words_.size()) {
      stream_.fill(std::as_writable_bytes(std::span(words_)));
      at_ = 0;
    }
    return words_[at_++];
  }
  // Uniform on [0, bound).
  std::uint64_t below(std::uint64_t bound) {
    const std::uint64_t limit = bound * (UINT64_MAX / bound);
    for (;;) {
      const std::uint64_t word = next();
      if (word < limit) return word % bound;
    }
  }

 private:
  static AesCtr keyed(Rng& rng) {
    AesCtr::Seed seed;
    rng.fill(seed);
    AesCtr stream(seed);
    AesCtr::wipe(seed);
    return stream;
  }

  AesCtr stream_;
  std::array<std::uint64_t, 512> words_;
  std::size_t at_ = words_.size();
};

}  // namespace sotto::deep
