// Drafts of schemas: a template to be completed by someone who knows the data from public knowledge.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "sotto/core/relation.hpp"
#include "sotto/data/csv.hpp"

namespace sotto {

struct DraftOptions {
  Relation relation = Relation::add_remove;
  std::optional<std::uint64_t> rows;  // declared by the user, never counted
  std::string target;                 // default: a column whose name says so
  std::size_t max_categories =
      100;  // from a public file: more different texts than this make a text column
};

// TOML with types guessed from the columns' names alone; bounds and values are left to fill in, so the draft does not pass
// Schema::from_toml until that is done. A function of the names and options only.
std::string draft_schema(std::span<const std::string> columns, const DraftOptions& options = {});

// The same, but types, bounds and values are read from `public_file`, which must be public (or synthetic) data:
// what is read from it is in the schema for everyone to see. Columns that it does not have are drafted by name.
std::string draft_schema(std::span<const std::string> columns, CsvReader& public_file,
                         const DraftOptions& options = {});

}  // namespace sotto
