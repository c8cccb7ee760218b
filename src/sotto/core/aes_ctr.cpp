#include "sotto/core/aes_ctr.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <algorithm>

#include "sotto/core/detail/aes_ctr_wide.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

void AesCtr::Free::operator()(void* context) const {
  EVP_CIPHER_CTX_free(static_cast<EVP_CIPHER_CTX*>(context));
}

AesCtr::AesCtr(AesCtr&&) noexcept = default;
AesCtr& AesCtr::operator=(AesCtr&&) noexcept = default;
AesCtr::~AesCtr() = default;

AesCtr::AesCtr(const Seed& seed, bool wide) {
  const std::span<const std::byte, 48> all(seed);
  if (wide && detail::has_wide_aes()) {
    wide_ = std::make_unique<detail::WideAes>(all.first<32>(), all.last<16>());
    return;
  }
  context_.reset(EVP_CIPHER_CTX_new());
  const auto* bytes = reinterpret_cast<const unsigned char*>(seed.data());
  auto* context = static_cast<EVP_CIPHER_CTX*>(context_.get());
  if (context == nullptr ||
      EVP_EncryptInit_ex(context, EVP_aes_256_ctr(), nullptr, bytes, bytes + 32) != 1) {
    invariant_broken("OpenSSL refuses AES-256-CTR");
  }
}

void AesCtr::wipe(Seed& seed) { OPENSSL_cleanse(seed.data(), seed.size()); }

void AesCtr::fill(std::span<std::byte> out) {
  if (wide_) return wide_->fill(out);
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
