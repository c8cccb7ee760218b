// A schema document (TOML or JSON, both as a JSON tree by now) becomes a Schema, or an error that
// says what is wrong and where.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "sotto/core/error.hpp"
#include "sotto/core/event_json.hpp"
#include "sotto/core/json_text.hpp"
#include "sotto/core/nearest_name.hpp"
#include "sotto/data/number.hpp"
#include "sotto/data/schema.hpp"

namespace sotto::detail {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::size_t kMaxCategories = 1'000'000, kMaxColumns = 1'000'000;

// A node of the document that knows where it stands.
class Place {
 public:
  Place(const Json& json, std::string where, const Positions& positions)
      : json_(&json), where_(std::move(where)), positions_(&positions) {}

  [[noreturn]] void fail(const std::string& what, const std::string& hint = {}) const {
    const auto found = positions_->find(where_);
    const Position at = found == positions_->end() ? Position{} : found->second;
    throw SchemaProblem{at.line, at.column, where_, what, hint};
  }

  const Json& json() const { return *json_; }
  bool has(const char* key) const { return json_->contains(key); }
  Place at(const std::string& key) const { return child(key, json_->at(key)); }
  Place child(const std::string& key, const Json& value) const {
    return {value, where_.empty() ? key : where_ + "." + key, *positions_};
  }

  void expect_table() const {
    if (!json_->is_object()) fail("must be a table");
  }
  template <class Collect>
  void only_keys(const std::vector<std::string>& known, const Collect& collect) const {
    for (const auto& item : json_->items()) {
      const std::string& key = item.key();
      if (std::find(known.begin(), known.end(), key) != known.end()) continue;
      collect([&] {
        child(key, item.value())
            .fail("is not a key of a schema here", name_hint(key, known, "keys"));
      });
    }
  }

  double number() const {
    if (!json_->is_number()) fail("must be a number");
    const double value = json_->get<double>();
    if (!std::isfinite(value)) fail("must be finite");
    return value;
  }
  std::uint64_t count() const {
    const bool whole = json_->is_number_unsigned() || (json_->is_number_integer() && *json_ >= 0);
    if (!whole || *json_ == 0) fail("must be a whole number of at least 1");
    return json_->get<std::uint64_t>();
  }
  std::string text() const {
    if (!json_->is_string()) fail("must be a string");
    return json_->get<std::string>();
  }
  std::vector<std::string> texts() const {
    if (!json_->is_array()) fail("must be a list of strings");
    std::vector<std::string> result;
    for (const Json& item : *json_) {
      if (!item.is_string())
        fail("must be a list of strings", "write numbers in quotes, e.g. \"1\"");
      result.emplace_back(trimmed(item.get<std::string>()));
    }
    return result;
  }
  template <class Enum>
  Enum one_of(std::initializer_list<Enum> allowed) const {
    const std::string text = this->text();
    std::vector<std::string> names;
    for (const Enum e : allowed) {
      if (name(e) == text) return e;
      names.emplace_back(name(e));
    }
    const std::string near = nearest_name(text, names);
    fail(fmt::format("is '{}'; it must be one of {}", text, fmt::join(names, ", ")),
         near.empty() ? "" : fmt::format("did you mean '{}'?", near));
  }

 private:
  const Json* json_;
  std::string where_;
  const Positions* positions_;
};

// Goes on after a problem, so that one reading finds them all.
class Collector {
 public:
  explicit Collector(std::vector<SchemaProblem>& problems) : problems_(&problems) {}
  // Whether the step found nothing wrong.
  template <class Step>
  bool operator()(const Step& step) const {
    try {
      step();
      return true;
    } catch (SchemaProblem& problem) {
      problems_->push_back(std::move(problem));
      return false;
    }
  }

 private:
  std::vector<SchemaProblem>* problems_;
};

Bounds read_bounds(const Place& place) {
  const Json& json = place.json();
  if (!json.is_array() || json.size() != 2 || !json[0].is_number() || !json[1].is_number()) {
    place.fail("must be two numbers, [lower, upper]");
  }
  const double lower = json[0].get<double>(), upper = json[1].get<double>();
  // Half the distance is what the encoder divides by.
  const bool usable = std::isfinite(lower) && std::isfinite(upper) &&
                      std::isfinite(upper - lower) && (upper - lower) / 2 > 0;
  if (!usable) {
    place.fail(fmt::format("is [{}, {}]; lower must be below upper, both and their distance finite",
                           lower, upper));
  }
  return {lower, upper};
}

std::int64_t read_day(const Place& place, const Json& json) {
  const auto moment =
      json.is_string() ? parse_date(json.get<std::string>(), DateOrder::year_first) : std::nullopt;
  if (!moment || moment->time != 0)
    place.fail("must be a date as a text", "for example \"2024-03-01\"");
  return moment->day;
}

Bounds read_date_bounds(const Place& place) {
  const Json& json = place.json();
  if (!json.is_array() || json.size() != 2)
    place.fail("must be two dates", "for example [\"2015-01-01\", \"2024-12-31\"]");
  const std::int64_t lower = read_day(place, json[0]), upper = read_day(place, json[1]);
  if (lower >= upper) place.fail("must have its earlier date first");
  return {static_cast<double>(lower), static_cast<double>(upper)};
}

std::vector<DatePart> read_parts(const Place& place) {
  constexpr DatePart kAll[] = {DatePart::year,        DatePart::month,       DatePart::weekday,
                               DatePart::day_of_year, DatePart::time_of_day, DatePart::elapsed};
  std::vector<std::string> names;
  for (const DatePart part : kAll) names.emplace_back(name(part));
  std::vector<DatePart> parts;
  for (const std::string& text : place.texts()) {
    const auto at = std::find(names.begin(), names.end(), text);
    if (at == names.end())
      place.fail(fmt::format("holds '{}', which is no part of a date", text),
                 name_hint(text, names, "parts"));
    const DatePart part = kAll[at - names.begin()];
    if (std::find(parts.begin(), parts.end(), part) != parts.end())
      place.fail(fmt::format("holds '{}' twice", text));
    parts.push_back(part);
  }
  if (parts.empty()) place.fail("must not be empty");
  return parts;
}

std::vector<std::string> read_values(const Place& place) {
  std::vector<std::string> values = place.texts();
  if (values.empty()) place.fail("must not be empty");
  if (values.size() > kMaxCategories) {
    place.fail(
        fmt::format("has {} entries; at most {} are allowed", values.size(), kMaxCategories));
  }
  std::set<std::string_view> seen;
  for (const std::string& value : values) {
    if (value.empty()) place.fail("holds an empty string", "an empty cell is a missing one");
    if (!seen.insert(value).second) place.fail(fmt::format("holds '{}' twice", value));
  }
  return values;
}

// Which missing policies a column may have; the first is the default.
std::vector<Missing> missing_choices(const ColumnSchema& c) {
  if (c.type == ColumnType::categorical) {
    if (c.role == Role::target) return {Missing::refuse, Missing::other};
    return {Missing::other, Missing::refuse};
  }
  if (c.role == Role::target || c.role == Role::group) return {Missing::refuse};
  return {Missing::refuse, Missing::midpoint};
}

void read_missing(const Place& place, ColumnSchema& c) {
  const std::vector<Missing> choices = missing_choices(c);
  c.missing = choices.front();
  if (!place.has("missing")) return;
  const Place at = place.at("missing");
  c.missing = at.one_of({Missing::refuse, Missing::midpoint, Missing::other});
  if (std::find(choices.begin(), choices.end(), c.missing) != choices.end()) return;
  std::vector<std::string_view> names;
  for (const Missing m : choices) names.push_back(name(m));
  at.fail(fmt::format("is '{}'; a {} column with role {} allows: {}", name(c.missing), name(c.type),
                      name(c.role), fmt::join(names, ", ")));
}

Role read_role(const Place& place, ColumnType type) {
  const bool unused = type == ColumnType::text || type == ColumnType::ignore;
  const bool moment = type == ColumnType::date || type == ColumnType::time;
  if (!place.has("role")) return unused ? Role::ignore : Role::feature;
  const Place at = place.at("role");
  const Role role = at.one_of({Role::feature, Role::target, Role::group, Role::user, Role::ignore});
  const std::string declare = "declare it as categorical, with its values";
  if (type == ColumnType::ignore && role != Role::ignore)
    at.fail(fmt::format("is '{}', but the type is 'ignore'", name(role)));
  if ((type == ColumnType::text || moment) && (role == Role::target || role == Role::group))
    at.fail(fmt::format("is '{}', which a {} column cannot have", name(role), name(type)), declare);
  if (type == ColumnType::numeric && role == Role::group)
    at.fail("is 'group', which a numeric column cannot have", declare);
  return role;
}

void read_column_bounds(const Place& place, bool encoded, ColumnSchema& c) {
  if (place.has("bounds") && c.type == ColumnType::date) {
    c.bounds = read_date_bounds(place.at("bounds"));
  } else if (place.has("bounds")) {
    if (c.type != ColumnType::numeric)
      place.at("bounds").fail("belongs to numeric columns and dates only");
    c.bounds = read_bounds(place.at("bounds"));
  } else if (c.type == ColumnType::numeric && encoded) {
    place.fail("is numeric and has no bounds",
               "add bounds = [lower, upper] from public knowledge, not from the data");
  }
}

void read_column_values(const Place& place, bool encoded, ColumnSchema& c) {
  if (place.has("values")) {
    const Place at = place.at("values");
    if (c.type != ColumnType::categorical && c.type != ColumnType::boolean)
      at.fail("belongs to categorical and boolean columns only");
    c.values = read_values(at);
    if (c.type == ColumnType::boolean && c.values.size() != 2)
      at.fail("must have two entries for a boolean: the false one, then the true one");
    if (c.type == ColumnType::categorical && c.role == Role::target && c.values.size() < 2)
      at.fail("must have at least two entries for a target");
  } else if (c.type == ColumnType::categorical && encoded && !place.has("buckets")) {
    place.fail("is categorical and has no values",
               c.role == Role::feature
                   ? "add values = [\"a\", \"b\"] from public knowledge, not from the data; or "
                     "buckets = 256, where they are too many to be listed"
                   : "add values = [\"a\", \"b\"] from public knowledge, not from the data");
  }
}

// What a date is read as and what is made of it.
void read_date(const Place& place, bool encoded, ColumnSchema& c) {
  for (const char* key : {"parts", "order", "since"})
    if (place.has(key) && c.type != ColumnType::date) place.at(key).fail("belongs to dates only");
  if (c.type == ColumnType::time) c.parts = {DatePart::time_of_day};
  if (c.type != ColumnType::date) return;
  if (place.has("order"))
    c.order = place.at("order").one_of(
        {DateOrder::year_first, DateOrder::day_first, DateOrder::month_first});
  if (place.has("since")) c.since = read_day(place.at("since"), place.at("since").json());
  c.parts = place.has("parts") ? read_parts(place.at("parts"))
                               : std::vector{DatePart::elapsed, DatePart::month, DatePart::weekday};
  const bool bounded = std::any_of(c.parts.begin(), c.parts.end(), [](DatePart part) {
    return part == DatePart::year || part == DatePart::elapsed;
  });
  if (encoded && bounded && !c.bounds)
    place.fail("is a date and has no bounds",
               "add bounds = [\"2015-01-01\", \"2024-12-31\"] from public knowledge, or parts that "
               "need none, such as [\"month\", \"weekday\"]");
}

std::size_t whole_number(const Place& at, std::size_t least, std::size_t most) {
  const Json& json = at.json();
  if (!json.is_number_integer() || json < least || json > most)
    at.fail(fmt::format("must be a whole number from {} to {}", least, most));
  return json.get<std::size_t>();
}

void read_category_hash(const Place& place, ColumnSchema& c) {
  if (place.has("key")) {
    const Place at = place.at("key");
    if (c.type != ColumnType::categorical || !place.has("buckets"))
      at.fail("belongs to categorical columns with buckets only");
    c.category.key = at.text();
    if (c.category.key.empty() || c.category.key.size() > CategoryHash::kLongestKey)
      at.fail(fmt::format("must have from 1 to {} bytes", CategoryHash::kLongestKey));
  }
  if (c.type != ColumnType::categorical || !place.has("buckets")) return;
  const Place at = place.at("buckets");
  if (place.has("values"))
    at.fail("stands beside values", "list the values, or hash them into buckets");
  if (c.role != Role::feature)
    at.fail(fmt::format("means nothing to a column with role {}", name(c.role)),
            c.role == Role::target || c.role == Role::group ? "list its values" : "leave it out");
  c.category.buckets = whole_number(at, CategoryHash::kFewestBuckets, CategoryHash::kMostBuckets);
}

void read_text(const Place& place, ColumnSchema& c) {
  const auto number = [&](const char* key, std::size_t& to, std::size_t least, std::size_t most) {
    if (!place.has(key)) return;
    const Place at = place.at(key);
    if (c.type != ColumnType::text)
      at.fail(std::string_view(key) == "buckets" ? "belongs to text and categorical columns only"
                                                 : "belongs to text columns only");
    if (c.role != Role::feature)
      at.fail("means nothing to a text that is not a feature", "add role = \"feature\"");
    to = whole_number(at, least, most);
  };
  if (c.type != ColumnType::categorical)
    number("buckets", c.hash.buckets, 2, TextHash::kMostBuckets);
  number("words", c.hash.words, 1, TextHash::kMostWords);
  number("characters", c.hash.characters, 0, TextHash::kMostCharacters);
}

ColumnSchema read_column(const Place& place, const std::string& column_name,
                         const Collector& collect) {
  ColumnSchema c;
  c.name = column_name;
  if (!collect([&] { place.expect_table(); })) return c;
  place.only_keys({"type", "role", "bounds", "values", "missing", "invalid", "parts", "order",
                   "since", "buckets", "key", "words", "characters"},
                  collect);
  const bool has_type = collect([&] {
    if (!place.has("type")) {
      place.fail("has no type",
                 "add type = \"numeric\", \"categorical\", \"boolean\", \"date\", \"time\", "
                 "\"text\" or \"ignore\"");
    }
    c.type = place.at("type").one_of({ColumnType::numeric, ColumnType::categorical,
                                      ColumnType::boolean, ColumnType::date, ColumnType::time,
                                      ColumnType::text, ColumnType::ignore});
  });
  if (!has_type || !collect([&] { c.role = read_role(place, c.type); })) return c;

  const bool encoded = c.role != Role::user && c.role != Role::ignore;
  collect([&] { read_column_bounds(place, encoded, c); });
  collect([&] { read_column_values(place, encoded, c); });
  collect([&] { read_date(place, encoded, c); });
  collect([&] { read_category_hash(place, c); });
  collect([&] { read_text(place, c); });
  collect([&] {
    if (may_miss(c.type)) {
      read_missing(place, c);
    } else if (place.has("missing")) {
      place.at("missing").fail(fmt::format("does not belong to a {} column", name(c.type)));
    }
  });
  collect([&] {
    if (!place.has("invalid")) return;
    if (!may_be_invalid(c.type))
      place.at("invalid").fail("belongs to numbers, booleans, dates and times only");
    c.invalid = place.at("invalid").one_of({Invalid::refuse, Invalid::missing});
  });
  return c;
}

// "pixel{1..784}" stands for pixel1, pixel2, …: one table for columns that are alike. Any other
// name stands for itself.
std::vector<std::string> names_of(const Place& place, const std::string& name) {
  const std::size_t open = name.find('{'), dots = name.find("..", open),
                    close = name.find('}', dots);
  if (open == std::string::npos || dots == std::string::npos || close == std::string::npos)
    return {name};
  std::size_t first = 0, last = 0;
  const char *text = name.data(), *mid = text + dots, *end = text + close;
  const bool numbers = std::from_chars(text + open + 1, mid, first).ptr == mid &&
                       std::from_chars(mid + 2, end, last).ptr == end && mid != text + open + 1 &&
                       end != mid + 2;
  if (!numbers) return {name};
  if (first > last || last - first >= kMaxColumns)
    place.fail(fmt::format("must count upwards, over at most {} columns", kMaxColumns));
  std::vector<std::string> names;
  for (std::size_t i = first; i <= last; ++i)
    names.push_back(name.substr(0, open) + std::to_string(i) + name.substr(close + 1));
  return names;
}

// A table for each column, or for a run of columns.
void read_columns(const Place& columns, Schema& schema, const Collector& collect) {
  std::set<std::string> seen;
  for (const auto& [key, value] : columns.json().items()) {
    const Place place = columns.child(key, value);
    const std::string& named = key;  // a structured binding is none that Clang lets a lambda use
    std::vector<std::string> names = {named};
    if (!collect([&] { names = names_of(place, named); })) continue;
    ColumnSchema column = read_column(place, names.front(), collect);
    for (const std::string& name : names) {
      collect([&] {
        if (!seen.insert(name).second) place.fail(fmt::format("declares '{}' once more", name));
        if (seen.size() > kMaxColumns)
          place.fail(fmt::format("makes more than {} columns", kMaxColumns));
      });
      column.name = name;
      schema.columns.push_back(column);
      CategoryHash& category = schema.columns.back().category;
      if (category.hashes() && category.key.empty()) category.key = name;
      if (schema.columns.size() > kMaxColumns) return;
    }
  }
}

void check_role(const Place& document, const Schema& schema, Role role) {
  std::vector<std::string> names;
  for (const ColumnSchema& c : schema.columns) {
    if (c.role == role) names.push_back(c.name);
  }
  if (names.size() > 1) {
    document.at("columns").fail(fmt::format("has {} columns with role {}: {}", names.size(),
                                            name(role), fmt::join(names, ", ")),
                                "at most one is allowed");
  }
}

void read_unit(const Place& document, Schema& schema) {
  const bool has_user = schema.user() != nullptr;
  schema.unit = has_user ? Unit::user : Unit::record;
  if (document.has("unit")) {
    schema.unit = document.at("unit").one_of({Unit::record, Unit::user});
    if (schema.unit == Unit::user && !has_user) {
      document.at("unit").fail("is 'user', but no column has role = \"user\"");
    }
    if (schema.unit == Unit::record && has_user) {
      document.at("unit").fail("is 'record', but a column has role = \"user\"",
                               "set its role to \"ignore\", or the unit to \"user\"");
    }
  }
  if (document.has("max_contributions")) {
    const Place at = document.at("max_contributions");
    schema.max_contributions = at.count();
    if (schema.unit != Unit::user) at.fail("needs a column with role = \"user\"");
  } else if (schema.unit == Unit::user) {
    document.fail("the schema protects users but has no max_contributions",
                  "add max_contributions = k, the number of records kept of one user");
  }
  // An estimate counts rows, however many of them one user has.
  if (schema.drafted && schema.unit == Unit::user)
    document.at("drafted").fail("is an estimate that protects one record, the schema one user",
                                "declare the facts from public knowledge, or leave out the user");
}

SchemaDraft read_draft(const Place& place, Relation relation, const Collector& collect) {
  SchemaDraft draft;
  place.expect_table();
  place.only_keys({"relation", "epsilon", "delta", "events"}, collect);
  for (const char* key : {"relation", "epsilon", "delta", "events"})
    if (!place.has(key)) place.fail(fmt::format("has no {}", key), "sotto schema draft wrote it");
  draft.relation = place.at("relation")
                       .one_of({Relation::add_remove, Relation::replace_one, Relation::zero_out});
  if (draft.relation != relation)
    place.at("relation")
        .fail("is not that of the schema: the estimate is about other neighbours",
              "keep the relation it was drafted under, or draft again");
  draft.epsilon = place.at("epsilon").number();
  draft.delta = place.at("delta").number();
  if (draft.epsilon < 0) place.at("epsilon").fail("must not be negative");
  if (draft.delta < 0 || draft.delta >= 1) place.at("delta").fail("must be in [0, 1)");
  const Place events = place.at("events");
  if (!events.json().is_string()) events.fail("must be a text: a list of events as JSON");
  try {
    const Json list = parse_json(events.json().get<std::string>(), "it");
    if (!list.is_array() || list.empty()) events.fail("must be a list of events");
    for (const Json& event : list) draft.events.push_back(event_from_json(event));
  } catch (const Error& error) {
    events.fail(fmt::format("holds no events: {}", error.what()));
  }
  return draft;
}

}  // namespace

Schema read_schema(const Json& json, const Positions& positions,
                   std::vector<SchemaProblem>& problems) {
  const Place document(json, "", positions);
  const Collector collect(problems);
  Schema schema;
  if (!collect([&] { document.expect_table(); })) return schema;
  document.only_keys({"relation", "rows", "unit", "max_contributions", "feature_norm", "scaling",
                      "basis", "missing_values", "drafted", "columns"},
                     collect);
  collect([&] {
    if (!document.has("relation")) {
      document.fail("has no relation",
                    "add relation = \"add_remove\" (the number of rows is private) or "
                    "\"replace_one\" (it is public)");
    }
    schema.relation =
        document.at("relation")
            .one_of({Relation::add_remove, Relation::replace_one, Relation::zero_out});
  });
  collect([&] {
    if (document.has("rows")) schema.rows = document.at("rows").count();
  });
  collect([&] {
    if (!document.has("feature_norm")) return;
    schema.feature_norm = document.at("feature_norm").number();
    if (!(*schema.feature_norm >= 1e-9)) document.at("feature_norm").fail("must be at least 1e-9");
  });
  collect([&] {
    if (document.has("scaling"))
      schema.scaling = document.at("scaling").one_of({Scaling::symmetric, Scaling::unit});
  });
  collect([&] {
    if (document.has("basis"))
      schema.basis = document.at("basis").one_of(
          {NumericBasis::automatic, NumericBasis::linear, NumericBasis::hats});
  });
  collect([&] {
    if (document.has("missing_values"))
      schema.missing_values = document.at("missing_values").texts();
  });
  collect([&] {
    if (document.has("drafted"))
      schema.drafted = read_draft(document.at("drafted"), schema.relation, collect);
  });
  const bool has_columns = collect([&] {
    const std::string hint = "add a table [columns.NAME] for each column";
    if (!document.has("columns")) document.fail("has no columns", hint);
    document.at("columns").expect_table();
    if (document.at("columns").json().empty()) document.at("columns").fail("is empty", hint);
  });
  if (!has_columns) return schema;
  const Place columns = document.at("columns");
  read_columns(columns, schema, collect);
  for (const Role role : {Role::target, Role::user})
    collect([&] { check_role(document, schema, role); });
  collect([&] { read_unit(document, schema); });
  return schema;
}

void raise(const std::vector<SchemaProblem>& problems, const std::string& label) {
  const SchemaProblem& first = problems.front();
  throw DataError(
      first.text(label) + (problems.size() > 1
                               ? fmt::format(" (1 of {} problems; 'sotto schema check' lists them)",
                                             problems.size())
                               : std::string()),
      first.hint);
}

}  // namespace sotto::detail

namespace sotto {

std::string SchemaProblem::text(const std::string& label) const {
  return fmt::format("{}{}: {}{}", label, line ? fmt::format(", line {}", line) : std::string(),
                     where.empty() ? "" : where + " ", what);
}

}  // namespace sotto
