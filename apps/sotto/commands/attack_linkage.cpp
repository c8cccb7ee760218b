// sotto attack linkage: two tables joined on what both tell of people.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "commands/attack.hpp"
#include "commands/commands.hpp"
#include "options/reader_options.hpp"
#include "sotto/audit/linkage.hpp"
#include "sotto/core/error.hpp"
#include "sotto/data/csv.hpp"

namespace sotto::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

struct Columns {
  std::vector<std::string> keys, secrets, names;
};

// secret, identity: empty, or the name of a column.
Columns read_columns(const std::string& path, const std::vector<std::string>& on,
                     const std::string& secret, const std::string& identity,
                     const Arguments& arguments) {
  CsvReader reader(path, csv_options(arguments));
  std::vector<std::size_t> places;
  for (const std::string& name : on) places.push_back(reader.column(name));
  std::optional<std::size_t> secret_at, identity_at;
  if (!secret.empty()) secret_at = reader.column(secret);
  if (!identity.empty()) identity_at = reader.column(identity);
  Columns columns;
  reader.for_each_row([&](std::span<const std::string_view> cells, std::uint64_t) {
    std::string key;
    for (const std::size_t p : places) {
      key += trimmed(cells[p]);
      key += '\x1f';  // no cell has it
    }
    columns.keys.push_back(std::move(key));
    if (secret_at) columns.secrets.emplace_back(trimmed(cells[*secret_at]));
    if (identity_at) columns.names.emplace_back(trimmed(cells[*identity_at]));
  });
  if (columns.keys.empty())
    throw DataError(fmt::format("'{}' has no records", path), "there is nothing to link");
  return columns;
}

std::string optional_text(const Arguments& arguments, const char* option) {
  return arguments.given(option) ? arguments.text(option) : std::string();
}

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

Json to_json(const audit::Anonymity& a) {
  Json json = {{"records", a.records},
               {"classes", a.classes},
               {"k", a.k},
               {"unique", a.unique},
               {"below_5", a.below_5}};
  if (a.l) json["l"] = *a.l, json["same_secret"] = *a.same_secret;
  return json;
}

Json to_json(const audit::Linkage& l, bool secrets) {
  Json json = {{"found", l.found}, {"ambiguous", l.ambiguous}, {"unknown", l.unknown}};
  if (secrets) json["disclosed"] = l.disclosed;
  if (l.right) json["right"] = *l.right;
  return json;
}

void print(const audit::Anonymity& a, Context& context) {
  context.out.print("{} records in {} classes of equal quasi-identifiers: k = {}\n", a.records,
                    a.classes, a.k);
  context.out.print("  {} are alone in theirs ({:.2f} %), {} are with fewer than five ({:.2f} %)\n",
                    a.unique, 100 * share(a.unique, a.records), a.below_5,
                    100 * share(a.below_5, a.records));
  if (a.l)
    context.out.print(
        "  l = {} different secrets in a class; {} records have a class with one secret\n", *a.l,
        *a.same_secret);
}

void print(const audit::Linkage& l, bool secrets, Context& context) {
  context.out.print("joined with the table of names:\n  {} records are somebody's ({:.2f} %){}\n",
                    l.found, 100 * share(l.found, l.records),
                    l.right ? fmt::format(", {} rightly", *l.right) : "");
  context.out.print("  {} have several candidates, {} have none\n", l.ambiguous, l.unknown);
  if (secrets) context.out.print("  the secret of {} named people is known\n", l.disclosed);
}

void run_attack_linkage(const Arguments& arguments, Context& context) {
  const std::vector<std::string> on = arguments.list("on");
  const std::string secret = optional_text(arguments, "secret"),
                    identity = optional_text(arguments, "identity");
  if (arguments.given("identity") && !arguments.given("named"))
    throw InvalidArgument("--identity is for both tables, and --named is not given");
  const Columns released = read_columns(arguments.text("data"), on, secret, identity, arguments);
  const audit::Anonymity anonymity = audit::anonymity(released.keys, released.secrets);
  std::optional<audit::Linkage> linkage;
  if (arguments.given("named")) {
    const Columns named = read_columns(arguments.text("named"), on, "", identity, arguments);
    linkage = audit::link(released.keys, named.keys, released.secrets, released.names, named.names);
  }
  if (arguments.flag("json")) {
    Json json = {{"schema", 1}, {"warning", kPrivateResult}, {"on", on}};
    json["anonymity"] = to_json(anonymity);
    if (linkage) json["linkage"] = to_json(*linkage, !secret.empty());
    context.out.print("{}\n", json.dump());
    return;
  }
  context.out.print("{}\n", context.bold(kPrivateResult));
  print(anonymity, context);
  if (linkage) print(*linkage, !secret.empty(), context);
}

}  // namespace

Command attack_linkage_command() {
  std::vector<Option> options = {
      {.name = "data",
       .type = Type::file,
       .value = "FILE",
       .help = "the table without names, as it would be published",
       .required = true},
      {.name = "named",
       .type = Type::file,
       .value = "FILE",
       .help = "a table with names that others have, such as a register; default: none, count "
               "classes only"},
      {.name = "on",
       .type = Type::list,
       .value = "A,B,C",
       .help = "the quasi-identifiers: columns that both tables have",
       .required = true},
      {.name = "secret", .value = "COLUMN", .help = "the column of --data that nobody may know"},
      {.name = "identity",
       .value = "COLUMN",
       .help = "a column of both tables that says who it is, to count which links are right"}};
  for (Option& option : reader_options())
    if (option.name != "no-header" && option.name != "query") options.push_back(std::move(option));
  options.push_back(json_option());
  options.push_back(output_option());
  return {.name = "linkage",
          .summary = "find people in a table without names",
          .description =
              "How many records are alone with their quasi-identifiers (k-anonymity), and how many "
              "have exactly one candidate in another table. Removing names protects nobody whose "
              "record is found here. THE RESULT IS PRIVATE.",
          .examples = {{"Would a register find people?",
                        "sotto attack linkage --data people.csv --named people.csv --on age,city "
                        "--secret income"}},
          .options = std::move(options),
          .run = run_attack_linkage};
}

}  // namespace sotto::cli
