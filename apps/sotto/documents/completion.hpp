// Shell completion scripts, from the table.
#pragma once

#include <string>

#include "options/command.hpp"

namespace sotto::cli {

std::string bash_completion(const Command& root);
std::string zsh_completion(const Command& root);
std::string fish_completion(const Command& root);

}  // namespace sotto::cli
