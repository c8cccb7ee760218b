// A directory of files and the certificate that speaks about them: how every kind of model is kept.
//
// certificate.json names each file with its SHA-256. The directory is written beside its place, made durable and renamed when
// complete, so a crash leaves no half of one.
#pragma once

#include <map>
#include <string>

#include "sotto/core/certificate.hpp"

namespace sotto {

struct CertifiedDirectory {
  std::map<std::string, std::string> files;  // name → bytes
  Certificate certificate;
};

// Throws InvalidArgument unless an artifact could be written there. For use before private data is touched.
void check_artifact_place(const std::string& directory);

// Fills in the digests. Throws StorageError when it cannot write, InvalidArgument when the directory exists and is not empty.
void write_certified(const std::string& directory, const std::map<std::string, std::string>& files,
                     Certificate certificate);

// All files that the certificate names: regular ones, at most 100, 8 GiB in all. Throws DataError when something is missing or damaged, VerificationFailed when a file is
// not the one that was certified.
CertifiedDirectory read_certified(const std::string& directory);

// Replaces a file by new content, whole or not at all: written beside it, synced, renamed. Throws StorageError.
void replace_file(const std::string& path, const std::string& content);

}  // namespace sotto
