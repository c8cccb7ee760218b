// Documents made from the table: the man page and the reference page of the documentation.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "options/command.hpp"

namespace sotto::cli {

std::string man_page(const Command& root);        // roff for sotto.1
std::string reference_page(const Command& root);  // Markdown for docs/reference/command-line.md
std::vector<std::string> examples(const Command& root);  // every command line that --help shows

// Exit codes with their meaning, in ascending order.
std::vector<std::pair<int, std::string>> exit_codes();

}  // namespace sotto::cli
