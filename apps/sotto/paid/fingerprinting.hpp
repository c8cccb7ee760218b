// --fingerprint-key: the keyed fingerprint of the data in a certificate (docs/reference/certificate.md).
#pragma once

#include <optional>
#include <string>

#include "options/arguments.hpp"
#include "options/command.hpp"
#include "sotto/data/read_witness.hpp"

namespace sotto::cli {

Option fingerprint_option();

// Reads the key before anything is charged, so that a wrong one is noticed then. Empty when the option is not given: no fingerprint.
std::string read_fingerprint_key(const Arguments& arguments);

// Of what --data names, as the witness saw it; empty for an empty key.
std::string fingerprint_of_data(const Arguments& arguments, const std::string& key,
                                const std::optional<ReadWitness>& witness);

}  // namespace sotto::cli
