// From words on the command line to a command of the table and its options.
#pragma once

#include <string>
#include <vector>

#include "options/arguments.hpp"
#include "options/command.hpp"

namespace sotto::cli {

struct Call {
  std::vector<const Command*> path;  // from the root to the command; never empty
  RawOptions options;
  std::vector<std::string> positionals;

  const Command& command() const { return *path.back(); }
  std::string title() const;  // "sotto release mean"
  // Checks the options against the table; throws InvalidArgument.
  Arguments arguments() const { return {command(), title(), options, positionals}; }
};

// Finds the command and collects its options; values are checked by Call::arguments, so that --help
// works beside a wrong value. Throws InvalidArgument for an unknown command or option, with the
// nearest known one as a hint.
Call parse(const Command& root, const std::vector<std::string>& words);

}  // namespace sotto::cli
