#include "sotto/data/draft.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <set>

#include "sotto/core/error.hpp"
#include "sotto/core/nearest_name.hpp"
#include "sotto/data/detail/toml_text.hpp"
#include "sotto/data/number.hpp"
#include "sotto/data/schema.hpp"

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

constexpr std::array kBooleanWords = {"is",       "has",        "flag",     "boolean", "bool",
                                      "smoker",   "admitted",   "died",     "churned", "churn",
                                      "deceased", "readmitted", "defaulted"};
constexpr std::array kIdentifierWords = {
    "id",  "name", "email", "address", "url",  "phone",   "uuid",   "key",      "guid",
    "ssn", "nr",   "user",  "iban",    "mail", "patient", "person", "customer", "client"};
constexpr std::array kTextWords = {"text",    "comment", "comments",  "description",
                                   "message", "notes",   "note",      "review",
                                   "title",   "remarks", "complaint", "abstract"};
constexpr std::array kDateWords = {"date",  "datetime",  "timestamp", "birthday",  "dob",
                                   "birth", "birthdate", "arrival",   "admission", "discharge"};
constexpr std::array kTimeWords = {"time", "clock"};
constexpr std::array kNumberWords = {
    "age",      "income",   "salary", "wage",     "cost",   "costs",       "price",    "amount",
    "count",    "number",   "num",    "height",   "weight", "bmi",         "score",    "rate",
    "hours",    "days",     "months", "years",    "visits", "size",        "length",   "width",
    "value",    "total",    "gain",   "loss",     "mean",   "temperature", "pressure", "systolic",
    "distance", "duration", "depth",  "diastolic"};
constexpr std::array kCategoryWords = {
    "sex",     "gender",     "race",         "country",     "state", "city",   "region",
    "type",    "category",   "status",       "class",       "label", "target", "education",
    "marital", "occupation", "relationship", "workclass",   "kind",  "color",  "colour",
    "species", "brand",      "language",     "nationality", "group", "outcome"};
constexpr std::array kTargetNames = {"target", "label", "class", "outcome", "y"};

// Nothing when the name says nothing.
std::optional<ColumnType> guess_type(std::string_view name) {
  const auto words = words_of(name);
  if (any_word(words, kBooleanWords)) return ColumnType::boolean;
  if (any_word(words, kIdentifierWords)) return ColumnType::ignore;
  if (any_word(words, kTextWords)) return ColumnType::text;
  if (any_word(words, kDateWords)) return ColumnType::date;
  if (any_word(words, kTimeWords)) return ColumnType::time;
  if (any_word(words, kCategoryWords)) return ColumnType::categorical;
  if (any_word(words, kNumberWords)) return ColumnType::numeric;
  return std::nullopt;
}

std::string drafted_target(std::span<const std::string> columns, const DraftOptions& options) {
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
  static constexpr std::size_t kMostValues = 100'000;  // kept
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
    if (values.size() > kMostValues || values.contains(cell)) return;
    values.emplace(cell);
    too_many = values.size() > max_values;
  }
};

std::string placeholder(const DraftColumn& column) {
  if (column.type == ColumnType::numeric && !column.bounds)
    return "# bounds = [LOWER, UPPER]   # fill in from public knowledge\n";
  if (column.hashed) return {};
  if (column.type == ColumnType::categorical && column.values.empty())
    return "# values = [\"A\", \"B\"]   # fill in from public knowledge\n";
  if (column.type == ColumnType::date)
    return "# bounds = [\"FIRST DAY\", \"LAST DAY\"]   # fill in from public knowledge\n";
  if (column.type == ColumnType::ignore && column.guessed)
    return "# if it tells people apart who have several rows: type = \"text\", role = \"user\", "
           "and max_contributions above\n";
  if (column.type == ColumnType::text)
    return "# role = \"feature\"   # to learn from its words; left out of the model otherwise\n";
  return {};
}

std::string column_text(const DraftColumn& column) {
  std::string out =
      fmt::format("\n[columns.{}]\ntype = \"{}\"{}\n", toml_key(column.name), name(column.type),
                  column.note.empty() ? "" : "   # " + column.note);
  if (column.target) out += "role = \"target\"\n";
  if (column.bounds) {
    out += fmt::format("bounds = [{}, {}]\n", toml_number(column.bounds->lower()),
                       toml_number(column.bounds->upper()));
  }
  if (!column.values.empty()) out += fmt::format("values = {}\n", toml_list(column.values));
  if (column.hashed)
    out += fmt::format("buckets = {}\nkey = {}\n", CategoryHash::kDraftedBuckets,
                       toml_string(column.name));
  if (column.tolerant && !column.target) out += "missing = \"midpoint\"\n";
  return out + placeholder(column);
}

// Types, bounds and values as the public file shows them.
void observe(DraftColumn& column, const Observed& seen, const DraftOptions& options) {
  constexpr std::size_t kFewClasses = 20;
  using Words = std::set<std::string, std::less<>>;
  const bool two_words = seen.values == Words{"0", "1"} || seen.values == Words{"False", "True"} ||
                         seen.values == Words{"false", "true"};
  const bool classes = column.target && !seen.too_many && seen.values.size() >= 2 &&
                       (!seen.numeric || (seen.whole && seen.values.size() <= kFewClasses));
  column.note.clear();
  column.tolerant = seen.missing;
  if (const auto known = options.types.find(column.name); known != options.types.end()) {
    column.type = known->second;
  } else if (column.guessed && column.type == ColumnType::date && !seen.numeric) {
    column.note = "guessed from the name: its bounds are left to fill in";
  } else if (!seen.too_many && seen.values.empty()) {
    column.type = ColumnType::ignore;
    column.note = "empty in the public file";
  } else if (two_words && !column.target) {
    column.type = ColumnType::boolean;
  } else if (seen.numeric && !classes) {
    column.type = ColumnType::numeric;
  } else if (seen.too_many) {
    column.type = ColumnType::text;
    column.note = fmt::format(
        "more than {} different values; --categorical {} lists them all, --hashed {} hashes them",
        options.max_categories, column.name, column.name);
  } else {
    column.type = ColumnType::categorical;
  }
  if (column.type == ColumnType::numeric && seen.lower <= seen.upper)
    column.bounds.emplace(seen.lower, seen.lower < seen.upper ? seen.upper : seen.lower + 1);
  if (column.hashed) return;
  if (column.type == ColumnType::categorical)
    column.values.assign(seen.values.begin(), seen.values.end());
  if (column.type == ColumnType::categorical && seen.values.size() > Observed::kMostValues) {
    column.values.clear();
    column.note = fmt::format("more than {} different values: not listed; --hashed {} hashes them",
                              Observed::kMostValues, column.name);
  } else if (column.type == ColumnType::categorical && seen.too_many) {
    column.note =
        fmt::format("{} different values, a coordinate of the model each", column.values.size());
  }
  if (column.type != ColumnType::numeric && column.type != ColumnType::boolean)
    column.tolerant = false;
}

}  // namespace

std::vector<DraftColumn> draft_columns(std::span<const std::string> names,
                                       const DraftOptions& options) {
  for (const auto& [name, type] : options.types) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw DataError(fmt::format("there is no column '{}' to give a type", name),
                      name_hint(name, names, "columns"));
  }
  const std::string target = drafted_target(names, options);
  std::vector<DraftColumn> columns;
  for (const std::string& name : names) {
    const auto known = options.types.find(name);
    DraftColumn column{.name = name, .target = name == target};
    column.guessed = known == options.types.end();
    if (column.guessed) {
      const std::optional<ColumnType> guess = guess_type(name);
      column.type = guess.value_or(ColumnType::numeric);
      column.note = guess ? "guessed from the name"
                          : "the name says nothing: numeric, categorical, boolean, date, time, "
                            "text or ignore";
    } else {
      column.type = known->second;
    }
    const bool number_or_class = column.type == ColumnType::numeric ||
                                 column.type == ColumnType::boolean ||
                                 column.type == ColumnType::categorical;
    if (column.target && !number_or_class) column.type = ColumnType::categorical;
    column.hashed = options.hashed.contains(name);
    if (column.hashed && column.target)
      throw DataError(fmt::format("the target '{}' cannot be hashed", name),
                      "its values must be listed: --categorical instead of --hashed");
    columns.push_back(std::move(column));
  }
  return columns;
}

std::string draft_text(const std::string& origin, std::span<const DraftColumn> columns,
                       const DraftOptions& options) {
  std::string out = fmt::format(
      "# {}\nrelation = \"{}\"   # add_remove: the number of rows is private; replace_one: it is "
      "public\n{}",
      origin, name(options.relation),
      options.rows ? fmt::format("rows = {}\n", *options.rows)
                   : "# rows = N   # declared and public; need not be exact under add_remove\n");
  if (options.drafted) out += to_toml(*options.drafted);
  for (const DraftColumn& column : columns) out += column_text(column);
  return out;
}

std::string draft_schema(std::span<const std::string> columns, const DraftOptions& options) {
  return draft_text("Drafted from the names of the columns; no value of the data was read.",
                    draft_columns(columns, options), options);
}

std::string draft_schema(std::span<const std::string> columns, CsvReader& public_file,
                         const DraftOptions& options) {
  std::vector<Observed> seen(public_file.columns().size());
  public_file.for_each_row([&](std::span<const std::string_view> cells, std::uint64_t) {
    std::string scratch;
    for (std::size_t i = 0; i < cells.size(); ++i)
      seen[i].see(public_file.decimal_comma() ? with_point(cells[i], scratch) : cells[i],
                  options.max_categories);
  });
  std::vector<DraftColumn> drafted = draft_columns(columns, options);
  for (DraftColumn& column : drafted) {
    const auto& known = public_file.columns();
    const auto at = std::find(known.begin(), known.end(), column.name);
    if (at != known.end())
      observe(column, seen[static_cast<std::size_t>(at - known.begin())], options);
  }
  return draft_text("Types, bounds and values were read from a file declared to be public.",
                    drafted, options);
}

}  // namespace sotto
