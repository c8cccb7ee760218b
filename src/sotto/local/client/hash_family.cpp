#include "sotto/local/client/hash_family.hpp"

#include <string>

#include "sotto/core/digest.hpp"

namespace sotto::local {

std::uint64_t key_of_word(std::string_view word) {
  return std::stoull(sha256(word).substr(0, 16), nullptr, 16);
}

}  // namespace sotto::local
