// Signatures of certificates: certificate.sig beside certificate.json (docs/reference/certificate.md).
#pragma once

#include <optional>
#include <string>

#include "command.hpp"

namespace sotto::cli {

Option sign_option();

// Reads the key, so that a wrong one is noticed before anything is charged. Empty path: no signature.
std::string read_signing_key(const std::string& path);

// Signs the certificate in the directory, durably; nothing for an empty key.
void sign_artifact(const std::string& directory, const std::string& private_pem);

// Throws VerificationFailed unless certificate.json is unchanged and its signature, if there is one, holds; with a public key there must be
// one, and by that key. Returns whether it is signed.
bool check_certificate_files(const std::string& directory,
                             const std::optional<std::string>& public_pem);
// The same for the certificate of a release, a file without a signature.
bool check_certificate_alone(const std::string& path, const std::optional<std::string>& public_pem);

}  // namespace sotto::cli
