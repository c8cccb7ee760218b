// Schemas as TOML text, in and out.
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"
#include "sotto/data/ascii_toml.hpp"
#include "sotto/data/schema.hpp"
#include "sotto/data/toml_text.hpp"

namespace sotto {
namespace {

using Json = nlohmann::ordered_json;
using detail::Position;
using detail::Positions;

// The tree in the order of the document (toml++ keeps tables sorted by name), remembering where each part stands.
Json tree_of(const toml::node& node, const std::string& where, Positions& positions) {
  if (const toml::table* table = node.as_table()) {
    struct Entry {
      std::string key;
      const toml::node* value;
      toml::source_position at;
    };
    std::vector<Entry> entries;
    for (const auto& [key, value] : *table) {
      entries.push_back({std::string(key.str()), &value, key.source().begin});
    }
    std::stable_sort(entries.begin(), entries.end(),
                     [](const Entry& a, const Entry& b) { return a.at < b.at; });
    Json json = Json::object();
    for (const Entry& e : entries) {
      const std::string path = where.empty() ? e.key : where + "." + e.key;
      positions[path] = {e.at.line, e.at.column};
      json.get_ref<Json::object_t&>().push_back({e.key, tree_of(*e.value, path, positions)});
    }
    return json;
  }
  if (const toml::array* array = node.as_array()) {
    Json json = Json::array();
    for (const toml::node& item : *array) json.push_back(tree_of(item, where, positions));
    return json;
  }
  if (const auto* text = node.as_string()) return Json(text->get());
  if (const auto* whole = node.as_integer()) return Json(whole->get());
  if (const auto* real = node.as_floating_point()) return Json(real->get());
  if (const auto* flag = node.as_boolean()) return Json(flag->get());
  return Json();  // dates have no place in a schema and fail there as "must be …"
}

// Nothing when the text is not even TOML.
std::optional<Schema> read(std::string_view text, std::vector<SchemaProblem>& problems) {
  Positions positions;
  Json json;
  try {
    json = tree_of(toml::parse(detail::ascii_toml(text)), "", positions);
  } catch (const toml::parse_error& error) {
    const auto at = error.source().begin;
    problems.push_back({at.line, at.column, "",
                        fmt::format("not valid TOML: {}", error.description()),
                        "strings need quotes; each column is a table [columns.NAME]"});
    return std::nullopt;
  } catch (SchemaProblem& problem) {
    problems.push_back(std::move(problem));
    return std::nullopt;
  }
  return detail::read_schema(json, positions, problems);
}

}  // namespace

Schema Schema::from_toml(std::string_view text, const std::string& label) {
  std::vector<SchemaProblem> problems;
  std::optional<Schema> schema = read(text, problems);
  if (!problems.empty()) detail::raise(problems, label);
  return std::move(*schema);
}

std::vector<SchemaProblem> schema_problems(std::string_view toml) {
  std::vector<SchemaProblem> problems;
  read(toml, problems);
  std::stable_sort(problems.begin(), problems.end(),
                   [](const SchemaProblem& a, const SchemaProblem& b) { return a.line < b.line; });
  return problems;
}

std::string Schema::to_toml() const {
  std::string out = fmt::format("relation = \"{}\"\n", sotto::name(relation));
  if (rows) out += fmt::format("rows = {}\n", *rows);
  out += fmt::format("unit = \"{}\"\n", sotto::name(unit));
  if (unit == Unit::user) out += fmt::format("max_contributions = {}\n", max_contributions);
  if (feature_norm) out += fmt::format("feature_norm = {}\n", toml_number(*feature_norm));
  out += fmt::format("scaling = \"{}\"\n", sotto::name(scaling));
  if (basis != NumericBasis::automatic) out += fmt::format("basis = \"{}\"\n", sotto::name(basis));
  if (!missing_values.empty())
    out += fmt::format("missing_values = {}\n", toml_list(missing_values));
  for (const ColumnSchema& c : columns) {
    out += fmt::format("\n[columns.{}]\ntype = \"{}\"\n", toml_key(c.name), sotto::name(c.type));
    out += fmt::format("role = \"{}\"\n", sotto::name(c.role));
    if (c.bounds) {
      out += fmt::format("bounds = [{}, {}]\n", toml_number(c.bounds->lower()),
                         toml_number(c.bounds->upper()));
    }
    if (!c.values.empty()) out += fmt::format("values = {}\n", toml_list(c.values));
    const bool typed = c.type == ColumnType::numeric || c.type == ColumnType::boolean;
    if (typed || c.type == ColumnType::categorical) {
      out += fmt::format("missing = \"{}\"\n", sotto::name(c.missing));
    }
    if (typed) out += fmt::format("invalid = \"{}\"\n", sotto::name(c.invalid));
  }
  return out;
}

}  // namespace sotto
