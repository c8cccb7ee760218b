// How the data of a command is read: --no-header, --delimiter, --missing-values, as far as the command has them.
#pragma once

#include "options/arguments.hpp"
#include "sotto/data/csv.hpp"

namespace sotto::cli {

CsvOptions csv_options(const Arguments& arguments);

}  // namespace sotto::cli
