#include "sotto/core/signature.hpp"

#include <gtest/gtest.h>

#include "sotto/core/error.hpp"

namespace sotto::signature_test {

// The public key of [RFC8032, 7.1, test 1]; its fingerprint by OpenSSL's own tools.
TEST(KeyFingerprint, IsTheDigestOfTheKeyAndNotOfItsSpelling) {
  const std::string key =
      "-----BEGIN PUBLIC KEY-----\n"
      "MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n"
      "-----END PUBLIC KEY-----\n";
  const std::string known = "06e3fd8fda29bb60ab59557de61edb0aecdb231134be30e75b455f8e1b792fa9";
  EXPECT_EQ(key_fingerprint(key), known);
  EXPECT_EQ(key_fingerprint("\n" + key + "\n"), known);
  EXPECT_NE(key_fingerprint(new_signing_key().public_pem), known);
  EXPECT_THROW(key_fingerprint("no key"), DataError);
}

TEST(Signature, HoldsForTheSignedBytesAndNoOthers) {
  const KeyPair key = new_signing_key(), other = new_signing_key();
  const std::string message = "epsilon = 1";
  const std::string signature = sign(key.private_pem, message);
  EXPECT_EQ(public_key_of(key.private_pem), key.public_pem);
  EXPECT_TRUE(verify_signature(key.public_pem, message, signature));
  EXPECT_FALSE(verify_signature(other.public_pem, message, signature));
  EXPECT_FALSE(verify_signature(key.public_pem, "epsilon = 2", signature));
  for (std::size_t i = 0; i < signature.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = signature;
      changed[i] = static_cast<char>(changed[i] ^ (1 << bit));
      EXPECT_FALSE(verify_signature(key.public_pem, message, changed)) << i << "/" << bit;
    }
  }
}

TEST(Signature, KnownAnswerOfTheStandard) {
  // RFC 8032, section 7.1, test 2: the key wrapped as PKCS #8, the message 0x72.
  const std::string pem =
      "-----BEGIN PRIVATE KEY-----\n"
      "MC4CAQAwBQYDK2VwBCIEIEzNCJso/5banbbDRuwRTg9bijGfNaumJNqM9u1PuKb7\n"
      "-----END PRIVATE KEY-----\n";
  EXPECT_EQ(
      sign(pem, "\x72"),
      "kqAJqfDUyrhyDoILX2QlQKKye1QWUD+Ps3YiI+vbadoIWsHkPhWZbkWPNhPQ8R2MOHsurrQwKu6wDSkWErsMAA==");
}

TEST(Signature, WhatIsNoKeyIsRefused) {
  EXPECT_THROW(sign("no key", "m"), DataError);
  EXPECT_THROW(verify_signature("no key", "m", ""), DataError);
}

TEST(KeyedFingerprint, KnownAnswer) {
  // RFC 4231, test case 2.
  EXPECT_EQ(keyed_fingerprint("Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

}  // namespace sotto::signature_test
