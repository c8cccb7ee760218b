// A schema: the public facts about a data set, declared by its curator and never read from the
// data.
//
//   relation = "add_remove"
//   rows = 32561
//   [columns.age]
//   type = "numeric"
//   bounds = [17, 90]
//
// Bounds, categories, roles, the neighbouring relation and the unit of privacy all come from here.
// A Schema that exists is valid.
// Every key, its meaning and its default: docs/reference/schema.md.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/core/event.hpp"
#include "sotto/core/relation.hpp"
#include "sotto/core/values.hpp"
#include "sotto/data/category_hash.hpp"
#include "sotto/data/date.hpp"
#include "sotto/data/text_hash.hpp"

namespace sotto {

enum class ColumnType { numeric, categorical, boolean, date, time, text, ignore };
enum class Role { feature, target, group, user, ignore };
// What a missing cell becomes: refuse the file, the middle of the bounds, or the category "other".
enum class Missing { refuse, midpoint, other };
// A cell that cannot be read as its type: refuse the file, or treat it as missing.
enum class Invalid { refuse, missing };
enum class Unit { record, user };
// Where the bounds of a numeric feature go: [−1, 1] or [0, 1].
enum class Scaling { symmetric, unit };
// What a numeric feature becomes: one coordinate, or that and hat functions (hat_basis.hpp).
// automatic: whoever trains decides from public facts; an encoder left to itself takes linear.
enum class NumericBasis { automatic, linear, hats };

std::string_view name(ColumnType type);
// Whether cells may be missing or unreadable: all types but text and ignore, and all but those and
// categorical.
bool may_miss(ColumnType type);
bool may_be_invalid(ColumnType type);
std::string_view name(Role role);
std::string_view name(Missing missing);
std::string_view name(Invalid invalid);
std::string_view name(Unit unit);
std::string_view name(Scaling scaling);
std::string_view name(NumericBasis basis);  // "auto", …

struct ColumnSchema {
  std::string name;
  ColumnType type = ColumnType::numeric;
  Role role = Role::feature;
  std::optional<Bounds> bounds;  // numeric: always, except for a user
  std::vector<std::string>
      values;  // categorical: the categories, unless they are hashed; boolean: {false, true}, or
               // empty for the usual words
  Missing missing = Missing::refuse;
  Invalid invalid = Invalid::refuse;
  // date: what is made of it, how it is written and where `elapsed` begins. Its bounds are days
  // since 1970-01-01. A time has the part time_of_day.
  std::vector<DatePart> parts = {};
  DateOrder order = DateOrder::year_first;
  std::optional<std::int64_t> since = {};  // a day; default: the lower bound
  TextHash hash = {};                      // text, as a feature
  CategoryHash category = {};              // categorical, as a feature: instead of values
  friend bool operator==(const ColumnSchema&, const ColumnSchema&) = default;
};

// The columns that the parts of a date or time become: numbers and categories, named
// "arrival.month", "arrival.elapsed".
ColumnSchema part_column(const ColumnSchema& column, DatePart part);

// What it cost to estimate a schema from the data itself: not public for free, and part of every
// certificate of what is made with it.
struct SchemaDraft {
  Relation relation = Relation::add_remove;
  double epsilon = 0, delta = 0;
  std::vector<Event> events;
  friend bool operator==(const SchemaDraft&, const SchemaDraft&) = default;
};
std::string events_text(const SchemaDraft& draft);  // as JSON
std::string to_toml(const SchemaDraft& draft);      // the table [drafted]

struct Schema {
  Relation relation = Relation::add_remove;
  std::optional<std::uint64_t> rows;  // declared; exact where the relation makes it public
  Unit unit = Unit::record;
  std::uint64_t max_contributions = 1;  // records kept of one user
  std::optional<double> feature_norm;   // encoded rows are clipped to this ℓ2 norm
  Scaling scaling = Scaling::symmetric;
  NumericBasis basis = NumericBasis::automatic;
  std::vector<std::string> missing_values;  // cells that mean "missing" besides the empty one
  std::optional<SchemaDraft> drafted;       // estimated from the data, at this cost
  std::vector<ColumnSchema> columns;        // in the order of the document
  friend bool operator==(const Schema&, const Schema&) = default;

  static Schema from_toml(std::string_view text,
                          const std::string& label = "schema");  // throws DataError
  static Schema from_file(const std::string& path);              // throws DataError
  std::string to_toml() const;

  const ColumnSchema& column(
      std::string_view name) const;    // throws DataError that suggests the nearest
  const ColumnSchema* target() const;  // null when there is none
  const ColumnSchema* user() const;
  std::vector<std::string> names() const;

  // The same schema with this column as its target (a former target becomes a feature); throws
  // DataError.
  Schema with_target(std::string_view name) const;
};

nlohmann::ordered_json to_json(const Schema& schema);
Schema schema_from_json(const nlohmann::ordered_json& json, const std::string& label = "schema");

// One thing that is wrong with a schema document, and what to do about it.
struct SchemaProblem {
  unsigned line = 0, column = 0;  // in the text; 0 when unknown
  std::string where;              // "columns.age.bounds"; empty: the whole document
  std::string what, hint;

  std::string text(
      const std::string& label) const;  // "people.toml, line 3: columns.age has no type"
};

// Everything that is wrong, in the order of the document; empty when Schema::from_toml accepts the
// text.
std::vector<SchemaProblem> schema_problems(std::string_view toml);

namespace detail {
struct Position {
  unsigned line = 0, column = 0;
};
using Positions = std::map<std::string, Position>;  // of places such as "columns.age.bounds"
// The schema and what is wrong with it: the schema is valid only when nothing is.
Schema read_schema(const nlohmann::ordered_json& json, const Positions& positions,
                   std::vector<SchemaProblem>& problems);
[[noreturn]] void raise(const std::vector<SchemaProblem>& problems, const std::string& label);
}  // namespace detail

}  // namespace sotto
