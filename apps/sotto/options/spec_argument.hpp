// The SPEC argument of account and calibrate: a file or standard input.
#pragma once

#include <string>

#include "commands/commands.hpp"
#include "sotto/accounting/bound.hpp"

namespace sotto::cli {

Positional spec_positional();
std::string read_spec(const Arguments& arguments);  // the text; throws DataError

// --accountant and --tolerance.
std::vector<Option> accountant_options();
AccountOptions account_options(const Arguments& arguments);

}  // namespace sotto::cli
