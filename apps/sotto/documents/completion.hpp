// Shell completion scripts, from the table.
#pragma once

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "options/command.hpp"

namespace sotto::cli {

// The choices that a shell can offer: words, not signs that it would take for its own.
inline std::vector<std::string> words_of(std::vector<std::string> choices) {
  std::erase_if(choices, [](const std::string& choice) {
    return std::none_of(choice.begin(), choice.end(),
                        [](unsigned char c) { return std::isalnum(c) != 0; });
  });
  return choices;
}

std::string bash_completion(const Command& root);
std::string zsh_completion(const Command& root);
std::string fish_completion(const Command& root);

}  // namespace sotto::cli
