// The tables of a schema document that declare columns.
#pragma once

#include "sotto/data/detail/schema_place.hpp"

namespace sotto::detail {

// A table for each column, or for a run of columns.
void read_columns(const SchemaPlace& columns, Schema& schema, const ProblemCollector& collect);

}  // namespace sotto::detail
