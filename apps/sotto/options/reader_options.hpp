// How a table is read, the same options in every command that reads one.
#pragma once

#include "commands/commands.hpp"
#include "sotto/data/csv.hpp"

namespace sotto::cli {

// --no-header, --delimiter, --decimal, --encoding, --query.
std::vector<Option> reader_options();
// What they say. Everything was checked when the options were read: nothing is refused here.
CsvOptions csv_options(const Arguments& arguments);

// The help of an option that names a table.
inline constexpr const char* kTableHelp =
    "CSV, .npy or IDX file, plain or gzip; an array's columns are those of the schema, in its "
    "order; with --query a database: postgresql://... or an SQLite file";

}  // namespace sotto::cli
