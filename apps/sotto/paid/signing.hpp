// --sign: certificates that say who made them (core/certificate_signature.hpp).
#pragma once

#include <string>

#include "options/command.hpp"

namespace sotto::cli {

Option sign_option();

// Reads the key, so that a wrong one is noticed before anything is charged. Empty path: no
// signature.
std::string read_signing_key(const std::string& path);

}  // namespace sotto::cli
