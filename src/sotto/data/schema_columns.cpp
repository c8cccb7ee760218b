// What a schema document says of each column, checked against its type and role.
#include "sotto/data/detail/schema_columns.hpp"

#include <charconv>
#include <set>

namespace sotto::detail {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::size_t kMaxCategories = 1'000'000, kMaxColumns = 1'000'000;

Bounds read_bounds(const SchemaPlace& place) {
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

std::int64_t read_day(const SchemaPlace& place, const Json& json) {
  const auto moment =
      json.is_string() ? parse_date(json.get<std::string>(), DateOrder::year_first) : std::nullopt;
  if (!moment || moment->time != 0)
    place.fail("must be a date as a text", "for example \"2024-03-01\"");
  return moment->day;
}

Bounds read_date_bounds(const SchemaPlace& place) {
  const Json& json = place.json();
  if (!json.is_array() || json.size() != 2)
    place.fail("must be two dates", "for example [\"2015-01-01\", \"2024-12-31\"]");
  const std::int64_t lower = read_day(place, json[0]), upper = read_day(place, json[1]);
  if (lower >= upper) place.fail("must have its earlier date first");
  return {static_cast<double>(lower), static_cast<double>(upper)};
}

std::vector<DatePart> read_parts(const SchemaPlace& place) {
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

std::vector<std::string> read_values(const SchemaPlace& place) {
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

void read_missing(const SchemaPlace& place, ColumnSchema& c) {
  const std::vector<Missing> choices = missing_choices(c);
  c.missing = choices.front();
  if (!place.has("missing")) return;
  const SchemaPlace at = place.at("missing");
  c.missing = at.one_of({Missing::refuse, Missing::midpoint, Missing::other});
  if (std::find(choices.begin(), choices.end(), c.missing) != choices.end()) return;
  std::vector<std::string_view> names;
  for (const Missing m : choices) names.push_back(name(m));
  at.fail(fmt::format("is '{}'; a {} column with role {} allows: {}", name(c.missing), name(c.type),
                      name(c.role), fmt::join(names, ", ")));
}

Role read_role(const SchemaPlace& place, ColumnType type) {
  const bool unused = type == ColumnType::text || type == ColumnType::ignore;
  const bool moment = type == ColumnType::date || type == ColumnType::time;
  if (!place.has("role")) return unused ? Role::ignore : Role::feature;
  const SchemaPlace at = place.at("role");
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

void read_column_bounds(const SchemaPlace& place, bool encoded, ColumnSchema& c) {
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

void read_column_values(const SchemaPlace& place, bool encoded, ColumnSchema& c) {
  if (place.has("values")) {
    const SchemaPlace at = place.at("values");
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
void read_date(const SchemaPlace& place, bool encoded, ColumnSchema& c) {
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

std::size_t whole_number(const SchemaPlace& at, std::size_t least, std::size_t most) {
  const Json& json = at.json();
  if (!json.is_number_integer() || json < least || json > most)
    at.fail(fmt::format("must be a whole number from {} to {}", least, most));
  return json.get<std::size_t>();
}

void read_category_hash(const SchemaPlace& place, ColumnSchema& c) {
  if (place.has("key")) {
    const SchemaPlace at = place.at("key");
    if (c.type != ColumnType::categorical || !place.has("buckets"))
      at.fail("belongs to categorical columns with buckets only");
    c.category.key = at.text();
    if (c.category.key.empty() || c.category.key.size() > CategoryHash::kLongestKey)
      at.fail(fmt::format("must have from 1 to {} bytes", CategoryHash::kLongestKey));
  }
  if (c.type != ColumnType::categorical || !place.has("buckets")) return;
  const SchemaPlace at = place.at("buckets");
  if (place.has("values"))
    at.fail("stands beside values", "list the values, or hash them into buckets");
  if (c.role != Role::feature)
    at.fail(fmt::format("means nothing to a column with role {}", name(c.role)),
            c.role == Role::target || c.role == Role::group ? "list its values" : "leave it out");
  c.category.buckets = whole_number(at, CategoryHash::kFewestBuckets, CategoryHash::kMostBuckets);
}

void read_text(const SchemaPlace& place, ColumnSchema& c) {
  const auto number = [&](const char* key, std::size_t& to, std::size_t least, std::size_t most) {
    if (!place.has(key)) return;
    const SchemaPlace at = place.at(key);
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

ColumnSchema read_column(const SchemaPlace& place, const std::string& column_name,
                         const ProblemCollector& collect) {
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
std::vector<std::string> names_of(const SchemaPlace& place, const std::string& name) {
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

}  // namespace

void read_columns(const SchemaPlace& columns, Schema& schema, const ProblemCollector& collect) {
  std::set<std::string> seen;
  for (const auto& [key, value] : columns.json().items()) {
    const SchemaPlace place = columns.child(key, value);
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

}  // namespace sotto::detail
