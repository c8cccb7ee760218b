// Calls that need LibTorch run in another executable, sotto-deep, so that sotto itself starts quickly and installs without it.
//
// Both have the same table of commands. In sotto-deep the functions behind the deep calls are registered here; in sotto they are
// not, and deep_run replaces the process by the helper, with the same words.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "context.hpp"

namespace sotto::cli {

using Run = void (*)(const Arguments&, Context&);

// Networks: trained by `train --model mlp` and `sweep --model mlp`, given as a directory to `evaluate` and `predict`, timed by `bench dpsgd`.
bool is_deep_call(const Command& command, const Arguments& arguments);

// By the name of the command. Filled by the main function of sotto-deep only.
std::map<std::string, Run>& deep_runs();

// The function of a deep call. In sotto it does not return: the helper takes over. Throws NotBuilt when there is no helper.
Run deep_run(const std::string& command, const std::vector<std::string>& words);

}  // namespace sotto::cli
