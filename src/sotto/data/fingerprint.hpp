// Keyed fingerprint of a data set: lets who has the key and the data check later that a certificate
// speaks about that data.
//
// What       fingerprint() of a file, or of all files directly in a directory, under a secret key
//            and a fresh nonce; fingerprint_matches() checks one.
//            With a witness it is that of what was read; what was not read is read now.
// Guarantee  For those without the key it is a random-looking string (HMAC-SHA-256 is a
//            pseudo-random function), also beside other fingerprints of the same data: the nonce
//            keeps it from showing whether two data sets are equal. Computational, and void once
//            the key is known, for then a guessed record can be confirmed. A hash without a key
//            would be a release without noise; there is no such function here.
// Method     "<nonce>:<mac>" with mac = HMAC(key, nonce, SHA-256 of name and content of each file
//            in order of name); gzip is read decompressed.
// Reference  docs/reference/certificate.md.
#pragma once

#include <string>
#include <string_view>

#include "sotto/data/read_witness.hpp"

namespace sotto {

inline constexpr std::size_t kSmallestFingerprintKey = 32;  // bytes

// Throw InvalidArgument for a short key, SourceError when the data cannot be opened.
std::string fingerprint(std::string_view key, const std::string& path,
                        const ReadWitness* witness = nullptr);
bool fingerprint_matches(std::string_view text, std::string_view key, const std::string& path,
                         const ReadWitness* witness = nullptr);

}  // namespace sotto
