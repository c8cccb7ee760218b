// A directory of files and the certificate that speaks about them: how every kind of model is kept.
//
// certificate.json names each file with its SHA-256. The directory is written beside its place,
// made durable and renamed when complete, so a crash leaves no half of one.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "sotto/core/certificate.hpp"

namespace sotto {

struct CertifiedDirectory {
  std::map<std::string, std::string> files;  // name → bytes
  Certificate certificate;
};

// More than a model of a table takes; networks say how much they need.
inline constexpr std::size_t kUsualArtifactBytes = 4 << 20;

// Tries it: throws InvalidArgument when something is there, StorageError when an artifact of so
// many bytes could not be written. For use before private data is touched and before a budget is
// asked.
void check_artifact_place(const std::string& directory, std::size_t bytes = kUsualArtifactBytes);

// name → SHA-256, as the certificate names them.
std::map<std::string, std::string> digests_of(const std::map<std::string, std::string>& files);
// Names a result by the digests of its parts: a ledger's commit keeps it, so that an entry pays for
// one result only.
std::string result_digest(const std::map<std::string, std::string>& digests);

// Fills in the digests and signs what it writes, when a private key is given. Throws StorageError
// when it cannot write, InvalidArgument when the directory exists and is not empty.
void write_certified(const std::string& directory, const std::map<std::string, std::string>& files,
                     Certificate certificate, const std::string& signing_key = {});

// As it was read, once: what is checked is what is used afterwards.
struct CertificateText {
  std::string certificate, signature;  // no signature: empty
};
// Of a directory, or of a release: a file alone, with its signature beside it under the same name
// and .sig. Throws DataError.
CertificateText read_certificate_text(const std::string& place);

// All files that the certificate names: regular ones, at most 100, 8 GiB in all. Throws DataError
// when something is missing or damaged, VerificationFailed when a file is not the one that was
// certified.
CertifiedDirectory read_certified(const std::string& directory);
// The same for a certificate that was read from there before.
CertifiedDirectory read_certified(const std::string& directory, const std::string& certificate);

// Replaces a file by new content, whole or not at all: written beside it, synced, renamed. Only its
// owner may read it, also where others could read the one before. Throws StorageError.
void replace_secret(const std::string& path, const std::string& content);

}  // namespace sotto
