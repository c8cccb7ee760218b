// Pieces of TOML text, escaped so that they read back as what they were.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sotto {

std::string toml_string(std::string_view text);
std::string toml_key(std::string_view name);                   // bare where TOML allows it
std::string toml_list(const std::vector<std::string>& texts);  // of strings
std::string toml_number(double value);                         // reads back as the same double

}  // namespace sotto
