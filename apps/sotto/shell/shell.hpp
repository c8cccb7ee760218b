// The border between the library's exceptions and the shell's exit codes; nothing else catches
// everything.
#pragma once

#include <functional>

namespace sotto::cli {

// Runs the work; an exception becomes a message on standard error and an exit code.
int guarded(const std::function<int()>& work);

// The main function of `sotto` and of its helper `sotto-deep`.
int run_shell(int argc, char** argv);

}  // namespace sotto::cli
