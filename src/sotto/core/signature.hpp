// Ed25519 signatures, for certificates that others should be able to trust.
//
// What       Keys as PEM files that OpenSSL's own tools read (PKCS #8 private, SubjectPublicKeyInfo
//            public); signatures in base64.
// Guarantee  verify_signature() holds only for the very bytes that the owner of the key signed.
// Method     OpenSSL, pure Ed25519.
// Reference  [RFC8032].
#pragma once

#include <string>
#include <string_view>

namespace sotto {

struct KeyPair {
  std::string private_pem, public_pem;
};
KeyPair new_signing_key();

std::string public_key_of(const std::string& private_pem);  // PEM; throws DataError
// SHA-256 of the public key's DER form, in hexadecimal, by which people tell keys apart; the same
// as openssl pkey -pubin -in KEY.pub -outform DER | sha256sum
std::string key_fingerprint(const std::string& public_pem);                  // throws DataError
std::string sign(const std::string& private_pem, std::string_view message);  // base64
bool verify_signature(const std::string& public_pem, std::string_view message,
                      const std::string& signature);  // throws DataError for a key that is none

// HMAC-SHA-256 in lower-case hexadecimal: a fingerprint that only who has the key can compute, so
// nothing can be guessed from it.
std::string keyed_fingerprint(std::string_view key, std::string_view bytes);

}  // namespace sotto
