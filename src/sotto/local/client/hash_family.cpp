#include "sotto/local/client/hash_family.hpp"

#include <openssl/sha.h>

#include <array>

namespace sotto::local {

std::uint64_t key_of_word(std::string_view word) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(word.data()), word.size(), digest.data());
  std::uint64_t key = 0;
  for (int i = 0; i < 8; ++i) key = key << 8 | digest[i];
  return key;
}

}  // namespace sotto::local
