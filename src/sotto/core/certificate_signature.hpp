// The signature of a certificate: certificate.sig beside certificate.json
// (docs/reference/certificate.md).
//
// What       One line of JSON with the public key and the Ed25519 signature of the certificate's
//            canonical form.
// Guarantee  check_certificate_signature() returns only for a signature of this very certificate,
//            and says by which key. Anybody can sign with a key of their own: only a key that was
//            expected says who did.
// Method     Both functions take the certificate as text, so that what was checked, written or
//            parsed is what is signed.
// Reference  [RFC8032].
#pragma once

#include <optional>
#include <string>

namespace sotto {

// The content of certificate.sig.
std::string certificate_signature(const std::string& certificate, const std::string& private_pem);

struct SignedBy {
  std::string key_fingerprint;
  bool expected = false;  // it is the key that was asked for
};

// Throws VerificationFailed when the signature does not hold, or is by another key than the one
// that is asked for.
SignedBy check_certificate_signature(const std::string& certificate, const std::string& signature,
                                     const std::optional<std::string>& public_pem);

}  // namespace sotto
