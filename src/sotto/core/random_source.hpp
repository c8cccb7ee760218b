// Where random bytes come from: one small interface, secure by default, replaceable in tests.
//
// What       RandomSource fills spans of bytes. secure_source() is a cryptographic generator seeded
//            by the operating system; insecure_seed_source() is reproducible, for tests and
//            reproduction only, and every artifact made with it says so.
// Guarantee  secure_source: output computationally indistinguishable from uniform, independent
//            between sources, threads and, because it re-seeds after fork, between parent and
//            child.
// Method     AES-256 in counter mode with a key and counter from the operating system
//            (aes_ctr.hpp).
// Numerics   Bytes are uniform; nothing is rounded.
// Reference  [NIST800-38A] counter mode; docs/adr/0004-random-generator.md.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace sotto {

class RandomSource {
 public:
  virtual ~RandomSource() = default;
  virtual void fill(std::span<std::byte> out) = 0;
  // A new source whose output is independent of all that this one and its other children give.
  virtual std::unique_ptr<RandomSource> split() = 0;
  virtual std::string_view kind() const = 0;  // "aes256ctr", "insecure_seed", …
  virtual bool secure() const { return false; }
};

std::unique_ptr<RandomSource> secure_source();
std::unique_ptr<RandomSource> insecure_seed_source(std::uint64_t seed);

// Bytes straight from the operating system; throws StorageError when it cannot give any.
void system_random(std::span<std::byte> out);

// A number that changes in the child of every fork, so that buffers made before can be thrown away.
// One relaxed load.
// It counts from the first source or generator on: install_fork_hook() is called by their
// constructors.
namespace detail {
inline std::atomic<std::uint64_t> fork_counter{1};
}
inline std::uint64_t fork_generation() {
  return detail::fork_counter.load(std::memory_order_relaxed);
}
void install_fork_hook();

}  // namespace sotto
