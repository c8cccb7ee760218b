#include "sotto/core/signature.hpp"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <array>
#include <memory>
#include <vector>

#include "sotto/core/digest.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

struct Freed {
  void operator()(EVP_PKEY* p) const { EVP_PKEY_free(p); }
  void operator()(EVP_MD_CTX* p) const { EVP_MD_CTX_free(p); }
  void operator()(BIO* p) const { BIO_free(p); }
};
using Key = std::unique_ptr<EVP_PKEY, Freed>;
using Bio = std::unique_ptr<BIO, Freed>;
using Digest = std::unique_ptr<EVP_MD_CTX, Freed>;

// A private key in a PEM file is never asked a pass phrase for: nobody may be there to answer.
int no_pass_phrase(char*, int, int, void*) { return -1; }

Key read_key(const std::string& pem, bool secret) {
  const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  Key key(secret ? PEM_read_bio_PrivateKey(bio.get(), nullptr, no_pass_phrase, nullptr)
                 : PEM_read_bio_PUBKEY(bio.get(), nullptr, no_pass_phrase, nullptr));
  if (!key || EVP_PKEY_get_id(key.get()) != EVP_PKEY_ED25519)
    throw DataError(
        fmt::format("this is not a {} Ed25519 key in PEM form", secret ? "private" : "public"),
        "sotto key new makes one");
  return key;
}

std::string text_of(const Bio& bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

std::string pem_of(const Key& key) {
  const Bio bio(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_PUBKEY(bio.get(), key.get()) != 1) invariant_broken("OpenSSL writes no key");
  return text_of(bio);
}

}  // namespace

KeyPair new_signing_key() {
  const Key key(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
  const Bio bio(BIO_new(BIO_s_mem()));
  if (!key || PEM_write_bio_PKCS8PrivateKey(bio.get(), key.get(), nullptr, nullptr, 0, nullptr,
                                            nullptr) != 1)
    invariant_broken("OpenSSL makes no Ed25519 key");
  return {text_of(bio), pem_of(key)};
}

std::string public_key_of(const std::string& private_pem) {
  return pem_of(read_key(private_pem, true));
}

std::string key_fingerprint(const std::string& public_pem) {
  const Key key = read_key(public_pem, false);
  const Bio bio(BIO_new(BIO_s_mem()));
  if (i2d_PUBKEY_bio(bio.get(), key.get()) != 1) invariant_broken("OpenSSL writes no key");
  return sha256(text_of(bio));
}

std::string sign(const std::string& private_pem, std::string_view message) {
  const Key key = read_key(private_pem, true);
  const Digest context(EVP_MD_CTX_new());
  std::array<unsigned char, 64> raw{};
  std::size_t length = raw.size();
  const auto* bytes = reinterpret_cast<const unsigned char*>(message.data());
  if (EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key.get()) != 1 ||
      EVP_DigestSign(context.get(), raw.data(), &length, bytes, message.size()) != 1)
    invariant_broken("OpenSSL does not sign");
  std::array<unsigned char, 96> text{};
  const int size = EVP_EncodeBlock(text.data(), raw.data(), static_cast<int>(length));
  return {reinterpret_cast<char*>(text.data()), static_cast<std::size_t>(size)};
}

bool verify_signature(const std::string& public_pem, std::string_view message,
                      const std::string& signature) {
  const Key key = read_key(public_pem, false);
  if (pem_of(key) != public_pem) return false;  // one spelling of the key, too
  if (signature.size() != 88) return false;     // 64 bytes in base64
  std::array<unsigned char, 66> raw{};
  if (EVP_DecodeBlock(raw.data(), reinterpret_cast<const unsigned char*>(signature.data()), 88) !=
      66)
    return false;
  // One spelling only: unused bits of base64 must be zero.
  std::array<unsigned char, 96> again{};
  const int size = EVP_EncodeBlock(again.data(), raw.data(), 64);
  if (signature !=
      std::string_view(reinterpret_cast<char*>(again.data()), static_cast<std::size_t>(size)))
    return false;
  const Digest context(EVP_MD_CTX_new());
  const auto* bytes = reinterpret_cast<const unsigned char*>(message.data());
  return EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
         EVP_DigestVerify(context.get(), raw.data(), 64, bytes, message.size()) == 1;
}

std::string keyed_fingerprint(std::string_view key, std::string_view bytes) {
  std::array<unsigned char, 32> mac{};
  unsigned length = 0;
  if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
           reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), mac.data(),
           &length) == nullptr)
    invariant_broken("OpenSSL refuses HMAC");
  std::string text;
  for (unsigned char b : mac) text += fmt::format("{:02x}", b);
  return text;
}

}  // namespace sotto
