// sotto release: a private statistic of one column of a CSV file.
#include "release.hpp"

#include <fmt/format.h>

#include "options/reader_options.hpp"
#include "paid/charge.hpp"
#include "paid/cost.hpp"
#include "paid/fingerprinting.hpp"
#include "paid/ritual.hpp"
#include "sotto/core/certified_directory.hpp"
#include "sotto/core/digest.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/event_json.hpp"
#include "sotto/core/rounded_text.hpp"
#include "sotto/learning/certify.hpp"

namespace sotto::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string neighbours(Relation relation) {
  switch (relation) {
    case Relation::add_remove: return "data sets with one row more or less";
    case Relation::replace_one: return "data sets of the same size that differ in one row";
    case Relation::zero_out: return "data sets of the same size where one row is nulled";
  }
  invariant_broken("unknown relation");
}

}  // namespace

Json to_json(const NoiseInfo& noise) {
  const auto maybe = [](const std::optional<double>& v) { return v ? Json(*v) : Json(nullptr); };
  return {{"distribution", noise.distribution},
          {"scale", noise.scale},
          {"standard_deviation", maybe(noise.standard_deviation)},
          {"half_width_95", maybe(noise.half_width_95)},
          {"approximate", noise.approximate}};
}

namespace {

void add_cost(Json& json, const PreparedRelease& release, const Arguments& arguments,
              const Cost& cost) {
  const auto maybe = [](const std::optional<double>& v) { return v ? Json(*v) : Json(nullptr); };
  json["event"] = to_json(release.event);
  json["relation"] = name(release.relation);
  json["epsilon"] = maybe(cost.epsilon);
  json["delta"] = maybe(cost.delta);
  if (const auto rho = arguments.maybe_number("rho")) json["rho"] = *rho;
}

std::string guarantee(const PreparedRelease& release, const Arguments& arguments,
                      const Cost& cost) {
  std::string what;
  if (arguments.given("rho")) {
    what = fmt::format("rho-zCDP with rho = {}", round_up(arguments.number("rho")));
    if (cost.epsilon) what += ", hence ";
  }
  if (cost.epsilon)
    what += fmt::format("epsilon = {}, delta = {}", round_up(*cost.epsilon), round_up(*cost.delta));
  if (release.schema && release.schema->drafted)
    what += fmt::format(
        "\n  and draft  epsilon = {}, delta = {} more: the schema was estimated from "
        "the data",
        round_up(release.schema->drafted->epsilon), round_up(release.schema->drafted->delta));
  if (release.unit == "user")
    return fmt::format("{}\n  unit       one user with all rows; relation {}", what,
                       name(release.relation));
  return fmt::format("{}\n  unit       one row; neighbours ({}) are {}", what,
                     name(release.relation), neighbours(release.relation));
}

}  // namespace

std::string text_of(const NoiseInfo& noise) {
  if (noise.distribution == "exponential") {
    return fmt::format(
        "exponential mechanism; being {:.3g} ranks further off is e times less likely",
        noise.scale);
  }
  std::string text = fmt::format("{}, scale {:.4g}", noise.distribution, noise.scale);
  if (noise.half_width_95) {
    text += fmt::format("; 95 % of the time within {}±{}", noise.approximate ? "about " : "",
                        round_up(*noise.half_width_95, 4));
  }
  return text;
}

namespace {

Certificate certificate(const PreparedRelease& release, const Arguments& arguments,
                        const Cost& cost, const Rng& rng) {
  Certificate c = certify(release.event, release.relation, *cost.delta, rng);
  c.method = "release";
  c.unit = release.unit;
  c.description = fmt::format("{}: {}", release.what, release.plan);
  c.dataset = arguments.given("dataset") ? arguments.text("dataset") : "";
  const bool drafted = release.schema && release.schema->drafted;
  c.assumptions = {drafted ? "bounds and categories were estimated from this data, at the cost of "
                             "the schema's draft"
                           : "bounds and categories are declared, public facts"};
  if (drafted) add_draft(c, *release.schema);
  return c;
}

void check_certificate_options(const Arguments& arguments, const Cost& cost) {
  if (arguments.given("certificate") && !cost.delta)
    throw InvalidArgument("--certificate with --rho needs --delta, to state its epsilon",
                          "e.g. --delta 1e-6");
  if (arguments.given("fingerprint-key") && !arguments.given("certificate") &&
      !arguments.given("dataset"))
    throw InvalidArgument(
        "--fingerprint-key is about a certificate or a ledger, and none is asked for",
        "add --certificate FILE");
}

template <PreparedRelease (*prepare)(const Arguments&, Context&)>
void run_release(const Arguments& arguments, Context& context) {
  const PreparedRelease release = prepare(arguments, context);
  const Cost cost = cost_of(release.event, release.relation, arguments);
  check_certificate_options(arguments, cost);
  std::map<std::string, std::string> parts;  // of the result, by digest
  PaidWork<Answer> work;
  work.spec = Spec{release.relation, {release.event}};
  work.unit = release.unit;
  work.what = release.what;
  work.json = {{"schema", 1}};
  work.show = [&](const Json& quoted) {
    if (arguments.flag("json")) {
      Json json = quoted;
      add_cost(json, release, arguments, cost);
      context.out.print("{}\n", json.dump());
    } else {
      context.out.print(
          "{}: not run, no data read\n  would cost {}\n  plan       {}\n  event      {}\n",
          release.what, Lines{guarantee(release, arguments, cost)}, release.plan,
          to_json(release.event).dump());
    }
  };
  work.run = [&](Rng& rng) { return release.run(rng); };
  work.settle = [&](Answer& answer) {
    if (count_is_public(release.relation) && release.unit == "record")
      check_delta(arguments, answer.rows, "rows", context);
    parts = {{"value", sha256(Json(answer.value).dump())}};
    return result_digest(parts);
  };
  work.publish = [&](Answer&& answer, Json&& json, Rng& rng, const Payment* payment) {
    if (arguments.given("certificate")) {
      Certificate c = certificate(release, arguments, cost, rng);
      c.fingerprint = payment->fingerprint();
      c.ledger = payment->reference();
      c.files = parts;
      write_certificate(arguments.text("certificate"), c);
    }
    const bool insecure = arguments.given("insecure-seed");
    if (arguments.flag("json")) {
      json["value"] = answer.value;
      if (answer.noise) json["noise"] = cli::to_json(*answer.noise);
      json.update(answer.more);
      add_cost(json, release, arguments, cost);
      if (insecure) json["warning"] = kInsecure;
      payment->add_to(json);
      context.out.print("{}\n", json.dump());
    } else if (context.quiet) {
      context.out.print("{}\n",
                        Lines{answer.text.starts_with('\n') ? answer.text.substr(1) : answer.text});
    } else {
      context.out.print("{}:{}{}\n", release.what, answer.text.starts_with('\n') ? "" : " ",
                        context.bold(answer.text));
      if (answer.noise) context.out.print("  noise      {}\n", text_of(*answer.noise));
      context.out.print("  guarantee  {}\n  plan       {}\n",
                        Lines{guarantee(release, arguments, cost)}, release.plan);
      if (insecure) context.out.print("  {}\n", kInsecure);
    }
  };
  perform(arguments, context, std::move(work));
}

std::vector<Option> data_options(bool column_required) {
  std::vector<Option> options = {
      {.name = "data",
       .type = Type::file,
       .value = "FILE",
       .help = "CSV file, plain or gzip; - reads standard input; with --query a database: "
               "postgresql://... or an SQLite file",
       .required = true,
       .group = "Data"},
      {.name = "column",
       .type = Type::text,
       .value = "NAME",
       .help = column_required
                   ? "the column, its number from 1 on with --no-header; several at once: sotto "
                     "release summary"
                   : "count the rows where this column is not empty, or meets a condition",
       .required = column_required,
       .group = "Data"},
      {.name = "missing-values",
       .type = Type::list,
       .value = "A,B",
       .help = "texts that mean a missing cell, as an empty cell always does",
       .group = "Data"},
  };
  for (Option& option : reader_options()) options.push_back(std::move(option));
  return options;
}

std::vector<Option> bound_options(bool required) {
  const std::string what =
      required ? "; values beyond are clamped to it" : " of the values to count";
  return {{.name = "lower",
           .type = Type::number,
           .value = "L",
           .help = "public lower bound" + what,
           .required = required,
           .group = "Data"},
          {.name = "upper",
           .type = Type::number,
           .value = "U",
           .help = "public upper bound" + what,
           .required = required,
           .group = "Data"}};
}

Option missing_option(std::vector<std::string> choices, const std::string& help) {
  return {.name = "missing",
          .type = Type::choice,
          .value = "WHAT",
          .help = help,
          .fallback = "refuse",
          .choices = std::move(choices),
          .group = "Data"};
}

std::vector<Option> privacy_options() {
  std::vector<Option> options = budget_options();
  Option relation = relation_option();
  relation.fallback = "add_remove";
  relation.group = "Privacy";
  options.push_back(relation);
  options.push_back(dry_run_option());
  options.push_back(certificate_option());
  for (Option option : {json_option(), output_option(), insecure_seed_option()}) {
    option.group = "Output";
    options.push_back(std::move(option));
  }
  return options;
}

Command statistic(std::string name, std::string summary, std::vector<Example> examples,
                  bool column_required, std::vector<Option> own,
                  void (*run)(const Arguments&, Context&), std::string needs) {
  Command command{.name = std::move(name),
                  .summary = std::move(summary),
                  .examples = std::move(examples),
                  .run = run};
  command.options = data_options(column_required);
  for (auto& option : own) command.options.push_back(std::move(option));
  for (auto& option : privacy_options()) command.options.push_back(std::move(option));
  for (auto& option : payment_options()) command.options.push_back(std::move(option));
  command.usage = fmt::format("--data FILE{} (--epsilon E [--delta D] | --rho R) [options]", needs);
  return command;
}

std::vector<Option> numeric_options() {
  auto options = bound_options(true);
  options.push_back(missing_option(
      {"refuse", "midpoint", "skip"},
      "a missing or NaN cell is an error, counts as the middle of the bounds, or is left out "
      "(add_remove only); under zero_out it contributes nothing"));
  return options;
}

Command summary_command() {
  Command command{
      .name = "summary",
      .summary = "several statistics of several columns in one release, with one budget",
      .description =
          "Bounds, categories, relation and unit are those of the schema. The budget is split "
          "evenly among the statistics. Groups cost nothing more: a record is in one of them. "
          "Conditions and groups need the relation add_remove. With unit = \"user\" at most "
          "max_contributions records of each user are kept, and the noise covers all of them.",
      .examples =
          {{"A table of figures with one budget",
            "sotto release summary --data people.csv --schema people.toml --statistics "
            "count,mean:age,median:income,histogram:city,correlation:age:income --epsilon 1 "
            "--delta 1e-6"},
           {"By group, of a part of the rows",
            "sotto release summary --data people.csv --schema people.toml --statistics "
            "count,mean:income --by-group city --where 'age>=30' --epsilon 1"}},
      .run = run_release<prepare_summary>,
      .usage =
          "--data FILE --schema FILE --statistics A,B (--epsilon E [--delta D] | --rho R) "
          "[options]"};
  command.options = summary_options();
  for (auto& option : privacy_options())
    if (option.name != "relation") command.options.push_back(std::move(option));
  for (auto& option : payment_options()) command.options.push_back(std::move(option));
  return command;
}

}  // namespace

Relation relation_of(const Arguments& arguments) {
  return parse_relation(arguments.text("relation"));
}

Command release_command() {
  std::vector<Option> count_options = bound_options(false);
  count_options.push_back({.name = "equals",
                           .type = Type::text,
                           .value = "TEXT",
                           .help = "count the rows where the column is this text",
                           .group = "Data"});
  count_options.push_back(missing_option(
      {"refuse", "skip"},
      "with --lower or --upper: a missing or NaN cell is an error, or is not counted (as always "
      "under zero_out)"));
  std::vector<Option> quantile_options = numeric_options();
  quantile_options.push_back({.name = "interval",
                              .type = Type::flag,
                              .help = "also two quantiles around it between which the true one "
                                      "lies 95 % of the time; they take two thirds of the budget",
                              .group = "Data"});
  quantile_options.push_back({.name = "rows",
                              .type = Type::whole,
                              .value = "N",
                              .help = "for --interval: about how many rows there are, declared "
                                      "and public",
                              .range = Range::from(1),
                              .group = "Data"});
  std::vector<Option> median_options = quantile_options;
  quantile_options.push_back({.name = "probability",
                              .type = Type::list,
                              .value = "P,Q",
                              .help = "which quantile; several share the budget evenly; 0.5 is the "
                                      "median",
                              .fallback = "0.5",
                              .group = "Data"});
  std::vector<Option> histogram_options = {
      {.name = "values",
       .type = Type::list,
       .value = "A,B,C",
       .help = "the categories, a public list",
       .group = "Data"},
      {.name = "unknown",
       .type = Type::choice,
       .value = "WHAT",
       .help = "a cell in no declared category is an error or is not counted",
       .fallback = "refuse",
       .choices = {"refuse", "ignore"},
       .group = "Data"},
      {.name = "other",
       .type = Type::text,
       .value = "VALUE",
       .help = "the one of --values that counts all undeclared cells",
       .group = "Data"},
      {.name = "unknown-categories",
       .type = Type::flag,
       .help = "instead of --values: release the categories that are common enough; needs "
               "--epsilon and --delta",
       .group = "Data"}};

  return {
      .name = "release",
      .summary = "release a private statistic of a CSV column",
      .description =
          "One row is one record. Bounds and categories are public facts that you declare; they "
          "are never read from the data, and values "
          "beyond the bounds are clamped. Under add_remove the number of rows is private, so mean "
          "and variance also pay for a noisy "
          "count. The epsilon shown is what the accountant finds for the noise that was drawn; it "
          "is never above the budget.\n\n"
          "--json prints "
          "{\"schema\":1,\"value\":...,\"noise\":{...},\"event\":{...},\"relation\":...,"
          "\"epsilon\":...,\"delta\":...}; with --rho "
          "and no --delta, epsilon and delta are null and \"rho\" is the guarantee.",
      .examples = {{"A mean age with epsilon 0.5",
                    "sotto release mean --data people.csv --column age --lower 17 --upper 90 "
                    "--epsilon 0.5"},
                   {"What would it cost? Reads nothing",
                    "sotto release mean --data people.csv --column age --lower 17 --upper 90 "
                    "--epsilon 0.5 --dry-run"}},
      .commands = {statistic("count", "how many rows there are, or how many meet a condition",
                             {{"The number of rows",
                               "sotto release count --data people.csv --epsilon 0.1"},
                              {"How many are between 30 and 40",
                               "sotto release count --data people.csv --column age --lower 30 "
                               "--upper 40 --epsilon 0.5"},
                              {"As JSON, for a program",
                               "sotto release count --data people.csv --column city --equals Turin "
                               "--epsilon 0.5 --json"}},
                             false, count_options, run_release<prepare_count>, ""),
                   statistic("sum", "the sum of a numeric column",
                             {{"Total income, one row replaced",
                               "sotto release sum --data people.csv --column income --lower 0 "
                               "--upper 100000 --epsilon 1 --relation replace_one"}},
                             true, numeric_options(), run_release<prepare_sum>,
                             " --column NAME --lower L --upper U"),
                   statistic("mean", "the mean of a numeric column",
                             {{"A mean age with epsilon 0.5",
                               "sotto release mean --data people.csv --column age --lower 17 "
                               "--upper 90 --epsilon 0.5"},
                              {"With Gaussian noise",
                               "sotto release mean --data people.csv --column age --lower 17 "
                               "--upper 90 --epsilon 0.5 --delta 1e-6"},
                              {"From a pipe, as JSON",
                               "zcat people.csv.gz | sotto release mean --data - --column age "
                               "--lower 17 --upper 90 --rho 0.01 --json"}},
                             true, numeric_options(), run_release<prepare_mean>,
                             " --column NAME --lower L --upper U"),
                   statistic("variance", "the population variance of a numeric column",
                             {{"How much ages vary",
                               "sotto release variance --data people.csv --column age --lower 17 "
                               "--upper 90 --epsilon 1"}},
                             true, numeric_options(), run_release<prepare_variance>,
                             " --column NAME --lower L --upper U"),
                   statistic("histogram", "how many rows fall in each category of a text column",
                             {{"Rows per city, with the cities declared",
                               "sotto release histogram --data people.csv --column city --values "
                               "Turin,Milan,Rome --epsilon 1"},
                              {"Nobody knows the cities: find the common ones",
                               "sotto release histogram --data people.csv --column city "
                               "--unknown-categories --epsilon 1 --delta 1e-6"}},
                             true, histogram_options, run_release<prepare_histogram>,
                             " --column NAME (--values A,B,C | --unknown-categories)"),
                   statistic("quantile", "the median or another quantile of a numeric column",
                             {{"The median age",
                               "sotto release quantile --data people.csv --column age --lower 17 "
                               "--upper 90 --epsilon 0.5"},
                              {"Nine in ten earn less than this",
                               "sotto release quantile --data people.csv --column income --lower 0 "
                               "--upper 100000 --probability 0.9 --epsilon 1"}},
                             true, quantile_options, run_release<prepare_quantile>,
                             " --column NAME --lower L --upper U"),
                   statistic("median", "the median of a numeric column",
                             {{"With an interval for the true one",
                               "sotto release median --data people.csv --column age --lower 17 "
                               "--upper 90 --epsilon 1 --interval --rows 2000"}},
                             true, median_options, run_release<prepare_quantile>,
                             " --column NAME --lower L --upper U"),
                   summary_command()},
  };
}

}  // namespace sotto::cli
