#include "sotto/core/digest.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>

#include "sotto/core/error.hpp"

namespace sotto {

std::string sha256(std::string_view bytes) {
  std::array<unsigned char, 32> digest{};
  unsigned length = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &length, EVP_sha256(), nullptr) != 1 ||
      length != digest.size()) {
    invariant_broken("OpenSSL refuses SHA-256");
  }
  std::string text;
  for (unsigned char byte : digest) text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace sotto
