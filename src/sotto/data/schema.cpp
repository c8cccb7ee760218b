#include "sotto/data/schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"
#include "sotto/core/event_json.hpp"
#include "sotto/core/nearest_name.hpp"
#include "sotto/data/byte_source.hpp"

namespace sotto {
namespace {

const ColumnSchema* with_role(const Schema& schema, Role role) {
  const auto found = std::find_if(schema.columns.begin(), schema.columns.end(),
                                  [&](const ColumnSchema& c) { return c.role == role; });
  return found == schema.columns.end() ? nullptr : &*found;
}

}  // namespace

std::string_view name(ColumnType type) {
  switch (type) {
    case ColumnType::numeric: return "numeric";
    case ColumnType::categorical: return "categorical";
    case ColumnType::boolean: return "boolean";
    case ColumnType::date: return "date";
    case ColumnType::time: return "time";
    case ColumnType::text: return "text";
    case ColumnType::ignore: return "ignore";
  }
  return "";
}
bool may_miss(ColumnType type) { return type != ColumnType::text && type != ColumnType::ignore; }
bool may_be_invalid(ColumnType type) { return may_miss(type) && type != ColumnType::categorical; }
std::string_view name(Role role) {
  switch (role) {
    case Role::feature: return "feature";
    case Role::target: return "target";
    case Role::group: return "group";
    case Role::user: return "user";
    case Role::ignore: return "ignore";
  }
  return "";
}
std::string_view name(Missing missing) {
  switch (missing) {
    case Missing::refuse: return "refuse";
    case Missing::midpoint: return "midpoint";
    case Missing::other: return "other";
  }
  return "";
}
std::string_view name(Invalid invalid) { return invalid == Invalid::refuse ? "refuse" : "missing"; }
std::string_view name(Unit unit) { return unit == Unit::record ? "record" : "user"; }
std::string_view name(Scaling scaling) {
  return scaling == Scaling::symmetric ? "symmetric" : "unit";
}
std::string_view name(NumericBasis basis) {
  switch (basis) {
    case NumericBasis::automatic: return "auto";
    case NumericBasis::linear: return "linear";
    case NumericBasis::hats: return "hats";
  }
  return "auto";
}

Schema Schema::from_file(const std::string& path) {
  constexpr std::size_t kLimit = std::size_t{16} << 20;
  return from_toml(read_all(path, kLimit), path);
}

std::vector<std::string> Schema::names() const {
  std::vector<std::string> result;
  for (const ColumnSchema& c : columns) result.push_back(c.name);
  return result;
}

const ColumnSchema& Schema::column(std::string_view wanted) const {
  const auto found = std::find_if(columns.begin(), columns.end(),
                                  [&](const ColumnSchema& c) { return c.name == wanted; });
  if (found != columns.end()) return *found;
  throw DataError(fmt::format("the schema has no column '{}'", wanted),
                  name_hint(wanted, names(), "columns"));
}

const ColumnSchema* Schema::target() const { return with_role(*this, Role::target); }
const ColumnSchema* Schema::user() const { return with_role(*this, Role::user); }

Schema Schema::with_target(std::string_view wanted) const {
  column(wanted);
  nlohmann::ordered_json json = to_json(*this);
  for (auto& [key, value] : json["columns"].items()) {
    if (value.value("role", "") == "target") value.erase("role");
    if (key != wanted) continue;
    value["role"] = "target";
    value.erase("missing");  // a default of features that targets do not share
  }
  return schema_from_json(json);
}

std::string events_text(const SchemaDraft& draft) {
  nlohmann::ordered_json events = nlohmann::ordered_json::array();
  for (const Event& event : draft.events) events.push_back(to_json(event));
  return events.dump();
}

ColumnSchema part_column(const ColumnSchema& column, DatePart part) {
  ColumnSchema result{.name = fmt::format("{}.{}", column.name, name(part)),
                      .type = ColumnType::numeric,
                      .role = column.role,
                      .bounds = {},
                      .values = {},
                      .missing = column.missing,
                      .invalid = column.invalid};
  const auto categories = [&](std::vector<std::string> values) {
    result.type = ColumnType::categorical;
    result.values = std::move(values);
    if (column.missing != Missing::refuse) result.missing = Missing::other;
  };
  const auto first = static_cast<std::int64_t>(column.bounds ? column.bounds->lower() : 0);
  const auto last = static_cast<std::int64_t>(column.bounds ? column.bounds->upper() : 1);
  switch (part) {
    case DatePart::year: {
      const double lower = part_of({.day = first}, part), upper = part_of({.day = last}, part);
      result.bounds.emplace(lower, upper > lower ? upper : lower + 1);
      break;
    }
    case DatePart::month:
      categories({"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"});
      break;
    case DatePart::weekday:
      categories({"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"});
      break;
    case DatePart::day_of_year: result.bounds.emplace(1, 366); break;
    case DatePart::time_of_day: result.bounds.emplace(0, 24); break;
    case DatePart::elapsed: {
      const auto since = static_cast<double>(column.since.value_or(first));
      result.bounds.emplace(static_cast<double>(first) - since, static_cast<double>(last) - since);
      break;
    }
  }
  return result;
}

nlohmann::ordered_json to_json(const Schema& schema) {
  nlohmann::ordered_json json;
  json["relation"] = name(schema.relation);
  if (schema.rows) json["rows"] = *schema.rows;
  json["unit"] = name(schema.unit);
  if (schema.unit == Unit::user) json["max_contributions"] = schema.max_contributions;
  if (schema.feature_norm) json["feature_norm"] = *schema.feature_norm;
  json["scaling"] = name(schema.scaling);
  if (schema.basis != NumericBasis::automatic) json["basis"] = name(schema.basis);
  if (!schema.missing_values.empty()) json["missing_values"] = schema.missing_values;
  if (schema.drafted)
    json["drafted"] = {{"relation", name(schema.drafted->relation)},
                       {"epsilon", schema.drafted->epsilon},
                       {"delta", schema.drafted->delta},
                       {"events", events_text(*schema.drafted)}};
  json["columns"] = nlohmann::ordered_json::object();
  for (const ColumnSchema& c : schema.columns) {
    nlohmann::ordered_json column;
    column["type"] = name(c.type);
    column["role"] = name(c.role);
    if (c.bounds && c.type == ColumnType::date)
      column["bounds"] = {date_text(static_cast<std::int64_t>(c.bounds->lower())),
                          date_text(static_cast<std::int64_t>(c.bounds->upper()))};
    else if (c.bounds)
      column["bounds"] = {c.bounds->lower(), c.bounds->upper()};
    if (!c.values.empty()) column["values"] = c.values;
    if (may_miss(c.type)) column["missing"] = name(c.missing);
    if (may_be_invalid(c.type)) column["invalid"] = name(c.invalid);
    if (c.type == ColumnType::date) {
      column["order"] = name(c.order);
      if (c.since) column["since"] = date_text(*c.since);
      column["parts"] = nlohmann::ordered_json::array();
      for (const DatePart part : c.parts) column["parts"].push_back(name(part));
    }
    if (c.category.hashes()) {
      column["buckets"] = c.category.buckets;
      column["key"] = c.category.key;
    }
    if (c.type == ColumnType::text && c.role == Role::feature) {
      column["buckets"] = c.hash.buckets;
      column["words"] = c.hash.words;
      column["characters"] = c.hash.characters;
    }
    json["columns"][c.name] = std::move(column);
  }
  return json;
}

Schema schema_from_json(const nlohmann::ordered_json& json, const std::string& label) {
  std::vector<SchemaProblem> problems;
  Schema schema = detail::read_schema(json, {}, problems);
  if (!problems.empty()) detail::raise(problems, label);
  return schema;
}

}  // namespace sotto
