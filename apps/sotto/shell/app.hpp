// One call of the command line as a function: what main runs, and what tests run in their own
// process.
#pragma once

#include <string>
#include <vector>

#include "shell/context.hpp"

namespace sotto::cli {

// Parses the words (without the program's name), runs the command and flushes its output. Throws
// what the command throws.
void run(const std::vector<std::string>& words, Context& context);

}  // namespace sotto::cli
