#include "sotto/data/draft.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <set>

#include "sotto/core/error.hpp"
#include "sotto/data/nearest_name.hpp"
#include "sotto/data/number.hpp"
#include "sotto/data/schema.hpp"
#include "sotto/data/toml_text.hpp"

namespace sotto {
namespace {

// The words of a name: "CapitalGain", "capital-gain" and "capital_gain" are capital, gain.
std::set<std::string> words_of(std::string_view name) {
  std::set<std::string> words;
  std::string word;
  char before = 0;
  const auto flush = [&] {
    if (!word.empty()) words.insert(word);
    word.clear();
  };
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (!std::isalnum(byte) && byte < 0x80) {
      flush();
    } else {
      if (std::isupper(byte) && std::islower(static_cast<unsigned char>(before))) flush();
      word += static_cast<char>(std::tolower(byte));
    }
    before = c;
  }
  flush();
  return words;
}

template <std::size_t N>
bool any_word(const std::set<std::string>& words, const std::array<const char*, N>& known) {
  return std::any_of(known.begin(), known.end(), [&](const char* w) { return words.contains(w); });
}

constexpr std::array kBooleanWords = {"is", "has", "flag", "boolean", "bool", "smoker"};
constexpr std::array kTextWords = {"id",    "name",    "text",    "comment", "description",
                                   "email", "address", "message", "url",     "phone",
                                   "notes", "uuid",    "key"};
constexpr std::array kCategoryWords = {
    "sex",     "gender",     "race",         "country",     "state", "city",   "region",
    "type",    "category",   "status",       "class",       "label", "target", "education",
    "marital", "occupation", "relationship", "workclass",   "kind",  "color",  "colour",
    "species", "brand",      "language",     "nationality", "group", "outcome"};
constexpr std::array kTargetNames = {"target", "label", "class", "outcome", "y"};

ColumnType guess_type(std::string_view name) {
  const auto words = words_of(name);
  if (any_word(words, kBooleanWords)) return ColumnType::boolean;
  if (any_word(words, kTextWords)) return ColumnType::text;
  if (any_word(words, kCategoryWords)) return ColumnType::categorical;
  return ColumnType::numeric;
}

std::string target_of(std::span<const std::string> columns, const DraftOptions& options) {
  if (!options.target.empty()) {
    if (std::find(columns.begin(), columns.end(), options.target) == columns.end()) {
      throw DataError(fmt::format("there is no column '{}' for the target", options.target),
                      name_hint(options.target, columns, "columns"));
    }
    return options.target;
  }
  for (const char* wanted : kTargetNames) {
    for (const std::string& column : columns) {
      if (words_of(column) == std::set<std::string>{wanted}) return column;
    }
  }
  return {};
}

// What a public file says about one column.
struct Observed {
  bool numeric = true, whole = true, boolean = true, missing = false, too_many = false;
  double lower = std::numeric_limits<double>::infinity(), upper = -lower;
  std::set<std::string, std::less<>> values;

  void see(std::string_view cell, std::size_t max_values) {
    cell = trimmed(cell);
    if (cell.empty()) {
      missing = true;
      return;
    }
    const NumberCell number = parse_number(cell);
    if (number.kind == CellKind::not_finite) {
      missing = true;
      return;
    }
    if (number.kind == CellKind::number) {
      lower = std::min(lower, number.value);
      upper = std::max(upper, number.value);
      whole = whole && number.value == std::floor(number.value);
    } else {
      numeric = false;
    }
    if (too_many || values.contains(cell)) return;
    if (values.size() == max_values) {
      too_many = true;
      values.clear();
      return;
    }
    values.emplace(cell);
  }
};

std::string placeholder(ColumnType type) {
  if (type == ColumnType::numeric)
    return "# bounds = [LOWER, UPPER]   # fill in from public knowledge\n";
  if (type == ColumnType::categorical)
    return "# values = [\"A\", \"B\"]   # fill in from public knowledge\n";
  return {};
}

std::string role_line(bool target) { return target ? "role = \"target\"\n" : ""; }

std::string column_by_name(const std::string& name, bool target) {
  ColumnType type = guess_type(name);
  if (target && type == ColumnType::text) type = ColumnType::categorical;
  return fmt::format("\n[columns.{}]\ntype = \"{}\"   # guessed from the name\n{}{}",
                     toml_key(name), sotto::name(type), role_line(target), placeholder(type));
}

std::string column_by_values(const std::string& name, bool target, const Observed& seen,
                             const DraftOptions& options) {
  constexpr std::size_t kFewClasses = 20;
  const std::string head = fmt::format("\n[columns.{}]\n", toml_key(name));
  const bool two_words = seen.values == std::set<std::string, std::less<>>{"0", "1"} ||
                         seen.values == std::set<std::string, std::less<>>{"False", "True"} ||
                         seen.values == std::set<std::string, std::less<>>{"false", "true"};
  const bool classes = target && !seen.too_many && seen.values.size() >= 2 &&
                       (!seen.numeric || (seen.whole && seen.values.size() <= kFewClasses));
  if (!seen.too_many && seen.values.empty())
    return head + "type = \"ignore\"   # empty in the public file\n";
  if (two_words && !target) {
    return head + "type = \"boolean\"\n" + (seen.missing ? "missing = \"midpoint\"\n" : "");
  }
  if (seen.numeric && !classes) {
    const double widened = seen.lower < seen.upper ? seen.upper : seen.lower + 1;
    return head + fmt::format("type = \"numeric\"\n{}bounds = [{}, {}]\n{}", role_line(target),
                              toml_number(seen.lower), toml_number(widened),
                              seen.missing && !target ? "missing = \"midpoint\"\n" : "");
  }
  if (seen.too_many) {
    return head + fmt::format("type = \"text\"   # more than {} different values\n",
                              options.max_categories);
  }
  return head + fmt::format("type = \"categorical\"\n{}values = {}\n", role_line(target),
                            toml_list({seen.values.begin(), seen.values.end()}));
}

std::string heading(const DraftOptions& options) {
  return fmt::format(
      "relation = \"{}\"   # add_remove: the number of rows is private; replace_one: it is "
      "public\n{}",
      name(options.relation),
      options.rows ? fmt::format("rows = {}\n", *options.rows)
                   : "# rows = N   # declared and public; need not be exact under add_remove\n");
}

}  // namespace

std::string draft_schema(std::span<const std::string> columns, const DraftOptions& options) {
  const std::string target = target_of(columns, options);
  std::string out = "# Drafted from the names of the columns; no value of the data was read.\n" +
                    heading(options);
  for (const std::string& name : columns) out += column_by_name(name, name == target);
  return out;
}

std::string draft_schema(std::span<const std::string> columns, CsvReader& public_file,
                         const DraftOptions& options) {
  const std::string target = target_of(columns, options);
  std::vector<Observed> seen(public_file.columns().size());
  public_file.for_each_row([&](std::span<const std::string_view> cells, std::uint64_t) {
    for (std::size_t i = 0; i < cells.size(); ++i) seen[i].see(cells[i], options.max_categories);
  });
  std::string out = "# Types, bounds and values were read from a file declared to be public.\n" +
                    heading(options);
  for (const std::string& name : columns) {
    const auto& known = public_file.columns();
    const bool observed = std::find(known.begin(), known.end(), name) != known.end();
    out += observed
               ? column_by_values(name, name == target, seen[public_file.column(name)], options)
               : column_by_name(name, name == target);
  }
  return out;
}

}  // namespace sotto
