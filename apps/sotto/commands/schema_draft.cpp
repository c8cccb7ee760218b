// sotto schema draft: a schema to be completed, from the header row, a public file, or a budget.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "options/budget_options.hpp"
#include "options/reader_options.hpp"
#include "paid/charge.hpp"
#include "paid/cost.hpp"
#include "paid/ritual.hpp"
#include "shell/output_file.hpp"
#include "sotto/core/certified_directory.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/event_json.hpp"
#include "sotto/core/rounded_text.hpp"
#include "sotto/data/draft.hpp"
#include "sotto/learning/certify.hpp"
#include "sotto/learning/schema_estimate.hpp"

namespace sotto::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::pair<const char*, ColumnType> kTypes[] = {
    {"numeric", ColumnType::numeric}, {"categorical", ColumnType::categorical},
    {"boolean", ColumnType::boolean}, {"date", ColumnType::date},
    {"time", ColumnType::time},       {"text", ColumnType::text},
    {"ignore", ColumnType::ignore}};

DraftOptions draft_options(const Arguments& arguments) {
  DraftOptions options;
  options.relation = parse_relation(arguments.text("relation"));
  if (arguments.given("rows")) options.rows = arguments.whole("rows");
  if (arguments.given("target")) options.target = arguments.text("target");
  for (const auto& [option, type] : kTypes) {
    if (!arguments.given(option)) continue;
    for (const std::string& column : arguments.list(option)) {
      if (!options.types.emplace(column, type).second)
        throw InvalidArgument(fmt::format("the column '{}' is given two types", column));
    }
  }
  if (arguments.given("hashed")) {
    for (const std::string& column : arguments.list("hashed")) {
      const auto known = options.types.emplace(column, ColumnType::categorical).first;
      if (known->second != ColumnType::categorical)
        throw InvalidArgument(fmt::format("the column '{}' is given two types", column));
      options.hashed.insert(column);
    }
  }
  return options;
}

// Only the header row is looked at.
std::vector<std::string> header_of(const Arguments& arguments) {
  return CsvReader(arguments.positionals().front(), csv_options(arguments)).columns();
}

std::string origin(const Cost& cost, Relation relation) {
  return fmt::format(
      "Bounds, values and rows were estimated from the data with epsilon = {}, delta = {} ({}, "
      "unit: "
      "one row).",
      round_up(*cost.epsilon), round_up(*cost.delta), name(relation));
}

void print(const std::string& toml, Json json, const Arguments& arguments, Context& context) {
  if (arguments.flag("json")) {
    json["toml"] = toml;
    context.out.print("{}\n", json.dump());
  } else {
    context.out.print("{}", Lines{toml});
  }
}

// A wrong type wastes its share of the budget, so that guesses are not paid for.
void check_guesses(const std::vector<DraftColumn>& columns) {
  std::vector<std::string> guesses, hints;
  for (const auto& [option, type] : kTypes) {
    if (type != ColumnType::numeric && type != ColumnType::categorical) continue;
    std::vector<std::string> names;
    for (const DraftColumn& c : columns)
      if (c.guessed && c.type == type) names.push_back(c.name);
    if (names.empty()) continue;
    guesses.push_back(fmt::format("{} ({})", fmt::join(names, ", "), option));
    hints.push_back(fmt::format("--{} {}", option, fmt::join(names, ",")));
  }
  if (guesses.empty()) return;
  throw InvalidArgument(
      fmt::format("types that are guessed from names are not paid for: {}",
                  fmt::join(guesses, ", ")),
      fmt::format("if they are right: {}, or --confirm-types; else give each its type",
                  fmt::join(hints, " ")));
}

void run_private_draft(const Arguments& arguments, const DraftOptions& options, Context& context) {
  const std::string path = arguments.positionals().front();
  std::vector<DraftColumn> columns = draft_columns(header_of(arguments), options);
  if (!arguments.flag("confirm-types")) check_guesses(columns);
  const SchemaEstimatePlan plan(std::move(columns), options, budget_of(arguments));
  if (options.rows) check_delta(arguments, *options.rows, "declared rows", context);
  const Cost cost = cost_of(plan.event(), plan.relation(), arguments);
  using Estimated = Release<SchemaEstimatePlan::Estimate>;
  PaidWork<Estimated> work;
  work.spec = Spec{plan.relation(), {plan.event()}};
  work.what = "draft of a schema";
  work.json = {{"schema", 1},
               {"source", "private"},
               {"epsilon", *cost.epsilon},
               {"delta", *cost.delta},
               {"relation", name(plan.relation())},
               {"event", to_json(plan.event())}};
  work.show = [&](const Json& json) {
    if (arguments.flag("json")) {
      context.out.print("{}\n", json.dump());
    } else {
      context.out.print(
          "not run, no row read\n  would cost epsilon = {}, delta = {}\n  plan       {}\n",
          round_up(*cost.epsilon), round_up(*cost.delta), plan.describe());
    }
  };
  work.run = [&](Rng& rng) {
    CsvReader file(path, csv_options(arguments));
    return plan.run(file, rng);
  };
  const auto text_of = [&](const Estimated& release) {
    const bool insecure = arguments.given("insecure-seed");
    DraftOptions known = release.value.options;
    known.drafted = SchemaDraft{plan.relation(), *cost.epsilon, *cost.delta, {release.event}};
    return draft_text(
        origin(cost, plan.relation()) + (insecure ? std::string(" ") + kInsecure : ""),
        release.value.columns, known);
  };
  std::map<std::string, std::string> parts;  // of the result, by digest
  work.settle = [&](Estimated& release) {
    parts = digests_of({{"value", text_of(release)}});
    return result_digest(parts);
  };
  work.publish = [&](Estimated&& release, Json&& json, Rng& rng, const Payment* payment) {
    Certificate certificate = certify(release.event, plan.relation(), *cost.delta, rng);
    certificate.ledger = payment->reference();
    certificate.fingerprint = payment->fingerprint();
    certificate.files = parts;
    certificate.method = "schema_estimate";
    certificate.description = plan.describe();
    if (arguments.given("certificate"))
      write_certificate(arguments.text("certificate"), certificate);
    json["certificate"] = to_json(certificate);
    payment->add_to(json);
    if (arguments.given("insecure-seed")) json["warning"] = kInsecure;
    print(text_of(release), std::move(json), arguments, context);
    context.note(fmt::format("spent epsilon = {}, delta = {} on this draft: {}",
                             round_up(*cost.epsilon), round_up(*cost.delta), plan.describe()));
  };
  perform(arguments, context, std::move(work));
}

void run_schema_draft(const Arguments& arguments, Context& context) {
  const DraftOptions options = draft_options(arguments);
  const bool from_public = arguments.given("from-public");
  if (has_budget(arguments)) {
    if (from_public)
      throw InvalidArgument("--from-public costs nothing, yet a budget is given",
                            "leave out one of the two");
    return run_private_draft(arguments, options, context);
  }
  for (const char* option : {"delta", "certificate", "dry-run", "ledger", "dsn-file", "dataset",
                             "part", "purpose", "by", "key", "fingerprint-key", "confirm-types"}) {
    if (arguments.given(option))
      throw InvalidArgument(fmt::format("--{} needs a budget: --epsilon E", option));
  }
  // Nothing private is released, so a ledger has nothing to charge: a named one is refused.
  (void)Payment(arguments, std::nullopt, "", "");
  const std::vector<std::string> columns = header_of(arguments);
  Json json = {{"schema", 1}, {"source", from_public ? "public_file" : "header"}};
  std::string toml;
  if (from_public) {
    CsvOptions reading = csv_options(arguments);
    reading.query.clear();
    CsvReader file(arguments.text("from-public"), reading);
    toml = draft_schema(columns, file, options);
  } else {
    toml = draft_schema(columns, options);
  }
  print(toml, std::move(json), arguments, context);
  context.note(from_public
                   ? "types, bounds and values come from the public file; check them"
                   : "no value of the data was read; fill in bounds, values and rows from public "
                     "knowledge, then: sotto schema check FILE");
}

}  // namespace

Command schema_draft_command() {
  std::vector<Option> options = {
      {.name = "from-public",
       .type = Type::file,
       .value = "FILE",
       .help = "read types, bounds and values from this file, which is public or synthetic",
       .group = "Data"},
      {.name = "target",
       .type = Type::text,
       .value = "COLUMN",
       .help = "the column to predict; default: one whose name says so",
       .group = "Data"},
      {.name = "rows",
       .type = Type::whole,
       .value = "N",
       .help = "declared number of rows, public",
       .range = Range::from(1),
       .group = "Data"}};
  for (Option& option : reader_options()) {
    if (option.name != "no-header") options.push_back(std::move(option));
  }
  for (const auto& [name, type] : kTypes) {
    options.push_back({.name = name,
                       .type = Type::list,
                       .value = "A,B",
                       .help = fmt::format("columns known to be {}",
                                           std::string(name) == "ignore" ? "of no use" : name),
                       .group = "Data"});
  }
  options.push_back({.name = "hashed",
                     .type = Type::list,
                     .value = "A,B",
                     .help = "categorical columns of too many values to be listed",
                     .group = "Data"});
  options.push_back({.name = "confirm-types",
                     .type = Type::flag,
                     .help = "spend the budget also on columns whose type is guessed from the name",
                     .group = "Data"});
  Option relation = relation_option();
  relation.fallback = "add_remove";
  relation.group = "Privacy";
  options.push_back(relation);
  for (Option& option : budget_options()) {
    if (option.name != "rho") options.push_back(std::move(option));
  }
  for (Option& option : payment_options()) options.push_back(std::move(option));
  options.push_back(dry_run_option());
  options.push_back(certificate_option());
  options.push_back(insecure_seed_option());
  options.push_back(json_option());
  options.push_back(output_option());
  return {
      .name = "draft",
      .summary = "write a schema to be completed",
      .description =
          "Types are guessed from the names in the header row. Without further options no value "
          "of the data is read, and bounds and categories are left to fill in. They can be read "
          "from a public file with the same columns, or estimated from the data with a budget, for "
          "columns whose type is given or confirmed: "
          "the magnitudes that surely occur, the categories that are common enough, and about "
          "how many rows there are.",
      .examples = {{"From the header row alone", "sotto schema draft people.csv"},
                   {"From a file that is public",
                    "sotto schema draft people.csv --from-public people.csv --target income"},
                   {"With a budget",
                    "sotto schema draft people.csv --numeric age,income --categorical city "
                    "--ignore name --epsilon 1 --delta 1e-6 "
                    "-o draft.toml --certificate draft.json && cat draft.toml"}},
      .positionals = {{.name = "FILE",
                       .help = "CSV file, plain or gzip, or with --query a database",
                       .type = Type::file}},
      .options = std::move(options),
      .run = run_schema_draft};
}

Command schema_command() {
  return {.name = "schema",
          .summary = "write and check the schema of a data set",
          .description =
              "A schema states the public facts about a data set: its columns, their "
              "bounds or categories, the relation, about how many rows.",
          .examples = {{"A schema to be completed", "sotto schema draft people.csv"},
                       {"Is it right?", "sotto schema check people.toml"}},
          .commands = {schema_draft_command(), schema_check_command()}};
}

}  // namespace sotto::cli
