#include "sotto/local/client/memory.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <cstring>

#include "sotto/core/aes_ctr.hpp"
#include "sotto/core/error.hpp"

namespace sotto::local {
namespace {

constexpr std::string_view kKeys = "#keys";

// The stream of one seed; its children are of no use to a client.
class SeededSource final : public RandomSource {
 public:
  explicit SeededSource(const AesCtr::Seed& seed) : stream_(seed) {}
  void fill(std::span<std::byte> out) override { stream_.fill(out); }
  std::unique_ptr<RandomSource> split() override {
    invariant_broken("permanent randomness is not split");
  }
  std::string_view kind() const override { return "permanent"; }
  bool secure() const override { return true; }

 private:
  AesCtr stream_;
};

// RAPPOR's keys are four bytes of a Bloom filter, whatever they are.
bool carries_loss(std::string_view key) {
  return !key.empty() && (key.size() == 4 || key.front() != '#');
}

}  // namespace

std::string hmac_sha256(std::string_view secret, std::string_view message) {
  std::string digest(32, '\0');
  unsigned length = 0;
  if (HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
           reinterpret_cast<const unsigned char*>(message.data()), message.size(),
           reinterpret_cast<unsigned char*>(digest.data()), &length) == nullptr ||
      length != digest.size())
    invariant_broken("OpenSSL refuses HMAC-SHA-256");
  return digest;
}

KeyedMemory::KeyedMemory(std::string secret) : secret_(std::move(secret)) {
  if (secret_.empty()) throw InvalidArgument("a client's secret is empty");
}

std::string KeyedMemory::recall(std::string_view key, std::size_t bytes, Rng&) {
  std::string result = hmac_sha256(secret_, key);
  // Further blocks by keys that no protocol asks for: those end in the number of the block.
  for (std::uint64_t block = 1; result.size() < bytes; ++block)
    result += hmac_sha256(secret_, fmt::format("{}\x1f#{}", key, block));
  result.resize(bytes);
  return result;
}

std::string StoredMemory::recall(std::string_view key, std::size_t bytes, Rng& rng) {
  if (const auto known = store_.find(key)) {
    if (known->size() != bytes) throw DataError("the client's store holds another protocol");
    return *known;
  }
  if (carries_loss(key)) {
    const auto count = store_.find(kKeys);
    const std::uint64_t keys = count ? std::stoull(*count) : 0;
    if (keys >= most_keys_)
      throw BudgetExceeded("the client's lifetime budget allows no further permanent answer",
                           "nothing was reported");
    store_.keep(kKeys, std::to_string(keys + 1));
  }
  std::string drawn;
  while (drawn.size() < bytes) {
    const std::uint64_t word = rng.next_u64();
    char part[8];
    std::memcpy(part, &word, 8);
    drawn.append(part, std::min<std::size_t>(8, bytes - drawn.size()));
  }
  store_.keep(key, drawn);
  return drawn;
}

Rng permanent_rng(Memory& memory, std::string_view key, Rng& rng) {
  AesCtr::Seed seed{};
  const std::string bytes = memory.recall(key, seed.size(), rng);
  std::memcpy(seed.data(), bytes.data(), seed.size());
  Rng result(std::make_unique<SeededSource>(seed));
  AesCtr::wipe(seed);
  return result;
}

Memory& needed(Memory* memory) {
  if (memory == nullptr)
    throw InvalidArgument("the protocol keeps permanent answers and needs a place for them",
                          "give a secret or a store");
  return *memory;
}

}  // namespace sotto::local
