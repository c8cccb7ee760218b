// --fingerprint-key: the keyed fingerprint of the data in a certificate
// (docs/reference/certificate.md).
#pragma once

#include <optional>
#include <string>

#include "options/arguments.hpp"
#include "options/command.hpp"
#include "sotto/data/read_witness.hpp"

namespace sotto::cli {

Option fingerprint_option();

// Reads the key before anything is charged, so that a wrong one is noticed then. Empty when the
// option is not given: no fingerprint.
std::string read_fingerprint_key(const Arguments& arguments);

// Of the data that a command reads, as it was read. Reads the key when it is made; without
// --fingerprint-key there is none.
class DataFingerprint {
 public:
  DataFingerprint(const Arguments& arguments, std::string path);

  bool active() const { return !key_.empty(); }
  std::string text() const;  // once the data was read; empty when not active
  bool matches(const std::string& declared) const;

 private:
  std::string key_, path_;
  std::optional<ReadWitness> witness_;
};

}  // namespace sotto::cli
