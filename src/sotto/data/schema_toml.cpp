// Schemas as TOML text, in and out.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"
#include "sotto/data/detail/toml_text.hpp"
#include "sotto/data/detail/toml_tree.hpp"
#include "sotto/data/schema.hpp"

namespace sotto {
namespace {

// Nothing when the text is not even TOML.
std::optional<Schema> read(std::string_view text, std::vector<SchemaProblem>& problems) {
  detail::Positions positions;
  nlohmann::ordered_json json;
  try {
    json = detail::toml_tree(text, positions);
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

std::string to_toml(const SchemaDraft& draft) {
  return fmt::format(
      "\n[drafted]   # what it cost to estimate this from the data\nrelation = \"{}\"\nepsilon = "
      "{}\ndelta = {}\nevents = {}\n",
      sotto::name(draft.relation), toml_number(draft.epsilon), toml_number(draft.delta),
      toml_string(events_text(draft)));
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
  if (drafted) out += sotto::to_toml(*drafted);
  for (const ColumnSchema& c : columns) {
    out += fmt::format("\n[columns.{}]\ntype = \"{}\"\n", toml_key(c.name), sotto::name(c.type));
    out += fmt::format("role = \"{}\"\n", sotto::name(c.role));
    if (c.bounds && c.type == ColumnType::date) {
      out += fmt::format("bounds = [\"{}\", \"{}\"]\n",
                         date_text(static_cast<std::int64_t>(c.bounds->lower())),
                         date_text(static_cast<std::int64_t>(c.bounds->upper())));
    } else if (c.bounds) {
      out += fmt::format("bounds = [{}, {}]\n", toml_number(c.bounds->lower()),
                         toml_number(c.bounds->upper()));
    }
    if (!c.values.empty()) out += fmt::format("values = {}\n", toml_list(c.values));
    if (may_miss(c.type)) out += fmt::format("missing = \"{}\"\n", sotto::name(c.missing));
    if (may_be_invalid(c.type)) out += fmt::format("invalid = \"{}\"\n", sotto::name(c.invalid));
    if (c.type == ColumnType::date) {
      out += fmt::format("order = \"{}\"\n", sotto::name(c.order));
      if (c.since) out += fmt::format("since = \"{}\"\n", date_text(*c.since));
      std::vector<std::string> parts;
      for (const DatePart part : c.parts) parts.emplace_back(sotto::name(part));
      out += fmt::format("parts = {}\n", toml_list(parts));
    }
    if (c.category.hashes())
      out +=
          fmt::format("buckets = {}\nkey = {}\n", c.category.buckets, toml_string(c.category.key));
    if (c.type == ColumnType::text && c.role == Role::feature) {
      out += fmt::format("buckets = {}\nwords = {}\ncharacters = {}\n", c.hash.buckets,
                         c.hash.words, c.hash.characters);
    }
  }
  return out;
}

}  // namespace sotto
