// --help, from the table: examples first, then usage, commands and options.
#pragma once

#include <string>
#include <vector>

#include "options/command.hpp"

namespace sotto::cli {

// variant: the value of the command's selector whose options are shown; empty: what there is to
// choose from.
std::string help_text(std::vector<const Command*> path, const std::string& variant = {});

// Pieces that the man page and the reference page share.
std::string title(const std::vector<const Command*>& path);
std::string usage_line(const std::vector<const Command*>& path);
std::string option_left(const Option& option);  // "-q, --quiet", "--epsilon E"
std::string option_right(
    const Option& option);  // help with choices, range, default and whether it is required
std::vector<std::string> groups(
    const Command& command);  // headings in the order of their first option
std::vector<std::string> wrap(const std::string& text, std::size_t width);

// Calls visit(path) for every visible command, parents before children.
template <class Visit>
void for_each_command(std::vector<const Command*> path, const Visit& visit) {
  visit(path);
  for (const Command& command : path.back()->commands) {
    if (command.hidden) continue;
    path.push_back(&command);
    for_each_command(path, visit);
    path.pop_back();
  }
}

}  // namespace sotto::cli
