#include "sotto/core/aes_ctr.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <algorithm>

#include "sotto/core/error.hpp"

namespace sotto {

void AesCtr::Free::operator()(void* context) const {
  EVP_CIPHER_CTX_free(static_cast<EVP_CIPHER_CTX*>(context));
}

AesCtr::AesCtr(const Seed& seed) : context_(EVP_CIPHER_CTX_new()) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(seed.data());
  auto* context = static_cast<EVP_CIPHER_CTX*>(context_.get());
  if (context == nullptr ||
      EVP_EncryptInit_ex(context, EVP_aes_256_ctr(), nullptr, bytes, bytes + 32) != 1) {
    invariant_broken("OpenSSL refuses AES-256-CTR");
  }
}

void AesCtr::wipe(Seed& seed) { OPENSSL_cleanse(seed.data(), seed.size()); }

void AesCtr::fill(std::span<std::byte> out) {
  // The key stream is the encryption of zeros, read from a page of them that stays in the
  // first-level cache: half the writes of clearing the output and encrypting it in place.
  static constexpr std::array<unsigned char, 8192> kZeros{};
  auto* context = static_cast<EVP_CIPHER_CTX*>(context_.get());
  while (!out.empty()) {
    const std::size_t n = std::min(out.size(), kZeros.size());
    int written = 0;
    if (EVP_EncryptUpdate(context, reinterpret_cast<unsigned char*>(out.data()), &written,
                          kZeros.data(), static_cast<int>(n)) != 1 ||
        written != static_cast<int>(n)) {
      invariant_broken("OpenSSL stopped giving random bytes");
    }
    out = out.subspan(n);
  }
}

}  // namespace sotto
