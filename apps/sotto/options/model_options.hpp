// Options that the commands on models share: where the data and the schema are.
#pragma once

#include "budget_options.hpp"
#include "reader_options.hpp"
#include "sotto/data/encoder.hpp"
#include "sotto/data/table.hpp"

namespace sotto::cli {

std::vector<Option> training_data_options();  // --data, --schema, --target, how to read

Schema schema_of(const Arguments& arguments);  // --schema with --target; throws DataError
TableOptions table_options(const Arguments& arguments, const Schema& schema);

std::vector<Option> model_data_options();  // --model DIR, --data, how to read

}  // namespace sotto::cli
