// sotto tune: a private choice among options.
#pragma once

#include "options/command.hpp"

namespace sotto::cli {

Command tune_command();

}  // namespace sotto::cli
