// Drafts of schemas: a template to be completed by someone who knows the data from public
// knowledge.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "sotto/core/relation.hpp"
#include "sotto/data/csv.hpp"
#include "sotto/data/schema.hpp"

namespace sotto {

struct DraftOptions {
  Relation relation = Relation::add_remove;
  std::optional<std::uint64_t> rows;             // declared by the user, never counted
  std::string target;                            // default: a column whose name says so
  std::map<std::string, ColumnType> types = {};  // known to the user; the rest is guessed
  std::set<std::string> hashed = {};        // of the categorical ones: hashed instead of listed
  std::optional<SchemaDraft> drafted = {};  // what was spent on it, written into the draft
  // From a public file: more different texts than this make a text column, unless its type is
  // given; then all of them are listed, and their number is said.
  std::size_t max_categories = 100;
};

// What a draft says about a column. Bounds and values that nobody knows are left to fill in.
struct DraftColumn {
  std::string name;
  ColumnType type = ColumnType::numeric;
  bool target = false;
  bool guessed = false;  // the type follows from the name alone
  std::optional<Bounds> bounds = {};
  std::vector<std::string> values = {};
  bool hashed = false;    // values are hashed into buckets, so that none is to be known
  bool tolerant = false;  // missing and unreadable cells become the middle of the bounds
  std::string note = {};  // a comment behind the type
};

// Types guessed from the names of the columns alone: a function of the names and options only.
// Throws DataError when the target or a typed column is no column.
std::vector<DraftColumn> draft_columns(std::span<const std::string> names,
                                       const DraftOptions& options = {});

// TOML; `origin` is a sentence on where the facts come from. It does not pass Schema::from_toml
// until everything is filled in.
std::string draft_text(const std::string& origin, std::span<const DraftColumn> columns,
                       const DraftOptions& options);

// From the names alone; no value of the data has any influence.
std::string draft_schema(std::span<const std::string> columns, const DraftOptions& options = {});

// The same, but types, bounds and values are read from `public_file`, which must be public (or
// synthetic) data: what is read from it is in the schema for everyone to see. Columns that it does
// not have are drafted by name.
std::string draft_schema(std::span<const std::string> columns, CsvReader& public_file,
                         const DraftOptions& options = {});

}  // namespace sotto
