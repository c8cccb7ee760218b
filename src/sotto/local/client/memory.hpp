// Permanent randomness of a client: what was drawn for a value once is drawn for it for ever.
//
// What       Memory::recall gives random bytes that belong to a key: the same at every call, after
//            a restart, after a crash. KeyedMemory derives them from a secret and keeps nothing;
//            StoredMemory draws them once and keeps them in a Store.
// Guarantee  The bytes of different keys are independent and uniform (KeyedMemory: as far as
//            HMAC-SHA-256 is a pseudo-random function of an unknown secret). StoredMemory has them
//            on durable storage before it returns them: no answer leaves that could be drawn anew.
// Method     Permanent answers are made by the ordinary client, from a generator that is seeded by
//            recall().
// Numerics   None.
// Reference  [EPK14], [DKY17]; docs/math/local-privacy.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sotto/core/rng.hpp"

namespace sotto::local {

std::string hmac_sha256(std::string_view secret, std::string_view message);

class Memory {
 public:
  virtual ~Memory() = default;
  virtual std::string recall(std::string_view key, std::size_t bytes, Rng& rng) = 0;
};

// The first 32 bytes of a key are HMAC-SHA-256(secret, key).
class KeyedMemory final : public Memory {
 public:
  explicit KeyedMemory(std::string secret);  // not empty; secret means 16 random bytes or more
  std::string recall(std::string_view key, std::size_t bytes, Rng& rng) override;

 private:
  std::string secret_;
};

// Where a caller keeps small things: a file (store/sqlite_store.hpp), a registry, a key chain.
class Store {
 public:
  virtual ~Store() = default;
  virtual std::optional<std::string> find(std::string_view key) = 0;
  // Durable when it returns, or when the transaction that it is part of commits.
  virtual void keep(std::string_view key, std::string_view value) = 0;
};

// Refuses (BudgetExceeded) to draw for more than `most_keys` keys that carry privacy loss; the
// empty key and those of five bytes or more that begin with '#' do not depend on a value and carry
// none.
class StoredMemory final : public Memory {
 public:
  explicit StoredMemory(Store& store, std::uint64_t most_keys = ~std::uint64_t{0})
      : store_(store), most_keys_(most_keys) {}
  std::string recall(std::string_view key, std::size_t bytes, Rng& rng) override;

 private:
  Store& store_;
  std::uint64_t most_keys_;
};

// A generator whose words are the permanent ones of the key.
Rng permanent_rng(Memory& memory, std::string_view key, Rng& rng);

// Throws InvalidArgument when there is none.
Memory& needed(Memory* memory);

}  // namespace sotto::local
