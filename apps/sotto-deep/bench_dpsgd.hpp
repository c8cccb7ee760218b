// sotto bench dpsgd: what a private step costs, measured against the ordinary one on the same
// machine in the same minute.
#pragma once

#include <string>

#include "options/arguments.hpp"
#include "shell/context.hpp"

namespace sotto::cli {

void bench_dpsgd(const Arguments& arguments, Context& context);
// A few steps of one kind, "plain" or "private"; prints the peak resident memory in MiB.
int print_peak_memory(const std::string& model, const std::string& batch, const std::string& kind);

}  // namespace sotto::cli
