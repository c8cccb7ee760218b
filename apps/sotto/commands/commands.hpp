// The commands, one file each: a declaration for the table, with its run function inside.
#pragma once

#include "../arguments.hpp"
#include "../command.hpp"
#include "../context.hpp"

namespace sotto::cli {

Command completion_command();
Command docs_command();
Command help_command();
Command man_command();

void print_version(const Arguments& arguments, Context& context);

// Options that several commands share.
Option json_option();

}  // namespace sotto::cli
