// Calls that need LibTorch run in another executable, sotto-deep, so that sotto itself starts
// quickly and installs without it.
//
// Both have the same table of commands and the same list of families. In sotto-deep the families
// that need LibTorch have their functions; in sotto they are declared only, and deep_run replaces
// the process by the helper, with the same words.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "options/arguments.hpp"
#include "shell/context.hpp"

namespace sotto::cli {

using Run = void (*)(const Arguments&, Context&);

// About a family whose functions are elsewhere: a kind to train, or the directory of a model; or
// the benchmark of networks.
bool is_deep_call(const Command& command, const Arguments& arguments);

// Commands that exist in sotto-deep only, by name. Filled by its main function.
std::map<std::string, Run>& deep_runs();

// The function of a deep call. In sotto it does not return: the helper takes over. Throws NotBuilt
// when there is no helper.
Run deep_run(const std::string& command, const std::vector<std::string>& words);

}  // namespace sotto::cli
