// sotto ledger report, statement, export: what was done, for people, for the people in the data,
// and for other programs.
#include <fmt/format.h>

#include <cmath>

#include "ledger.hpp"
#include "paid/charge.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/numeric/outward.hpp"
#include "sotto/core/rounded_text.hpp"
#include "sotto/data/csv_field.hpp"
#include "sotto/ledger/period.hpp"
#include "sotto/ledger/report.hpp"

namespace sotto::cli {
namespace {

using Json = nlohmann::ordered_json;
using ledger::iso_day;
using ledger::iso_time;
using ledger::Line;

constexpr std::size_t kAll = static_cast<std::size_t>(-1);

struct Reported {
  ledger::Account account;
  std::optional<ledger::Tally> this_data;
  ledger::Story story;
  std::vector<ledger::Dataset> periods;  // as they were defined, oldest first; the last is current

  const ledger::Dataset& set() const { return account.dataset(); }
};

// The definition in force at the end of each period.
std::vector<ledger::Dataset> periods_of(const std::vector<ledger::Entry>& entries) {
  std::vector<ledger::Dataset> all;
  for (const ledger::Entry& e : entries) {
    if (e.kind != "dataset" && e.kind != "decision") continue;
    ledger::Dataset d = ledger::dataset_from_json(e.json.at("definition"));
    d.name = e.dataset;
    if (all.empty() || e.json.value("decision", "") == "renew")
      all.push_back(std::move(d));
    else
      all.back() = std::move(d);
  }
  return all;
}

std::vector<Reported> read_all_of(ledger::Ledger& ledger, const std::string& only) {
  std::vector<Reported> all;
  for (ledger::Account& a : ledger.accounts()) {
    if (!only.empty() && a.dataset().name != only) continue;
    const std::vector<ledger::Entry> entries = ledger.entries(a.dataset().name);
    std::optional<ledger::Tally> this_data;
    if (a.dataset().this_data_epsilon > 0) this_data = ledger::tally_of(a.dataset(), entries);
    all.push_back(
        {std::move(a), std::move(this_data), ledger::story(entries, kAll), periods_of(entries)});
  }
  if (!only.empty() && all.empty())
    throw InvalidArgument(fmt::format("the ledger has no data set '{}'", only));
  return all;
}

std::string cap_text(const ledger::Dataset& d) {
  if (d.rho > 0) return fmt::format("rho = {}", d.rho);
  return d.delta > 0 ? fmt::format("epsilon = {}, delta = {}", d.epsilon, d.delta)
                     : fmt::format("epsilon = {}", d.epsilon);
}

std::string period_text(const ledger::Dataset& d) {
  if (d.until == 0) return d.from == 0 ? "" : " from " + iso_day(d.from);
  return d.from == 0 ? " until " + iso_day(d.until)
                     : fmt::format(" from {} until {}", iso_day(d.from), iso_day(d.until));
}

std::string cost_text(const Line& line) {
  std::string text;
  if (line.own) text = fmt::format(": epsilon = {} on its own", round_up(*line.own, 4));
  if (line.added && line.state != "abandoned")
    text += fmt::format("{}added {}", text.empty() ? ": " : ", ", round_up(*line.added, 4));
  if (line.this_data && line.state != "abandoned")
    text += fmt::format(", {} about this data", round_up(*line.this_data, 4));
  return text;
}

std::string sentence(const Line& line) {
  const std::string who = line.by.empty() ? "" : "; by " + line.by;
  if (line.kind == "decision")
    return fmt::format("{}{}: {} (signed by {})", line.what, who, line.why, line.signer);
  std::string text = line.what + (line.part.empty() ? "" : " in " + line.part) + cost_text(line) +
                     who + (line.why.empty() ? "" : ", for " + line.why);
  if (line.kind == "refusal") text += ": " + line.state;
  return text;
}

std::string verb(const Line& line) {
  if (line.kind == "refusal") return "refused";
  if (line.kind == "decision") return "decided";
  return line.state == "committed" ? "released" : line.state;
}

Json to_json(const Line& line, const std::string& dataset) {
  const auto number = [](const std::optional<double>& x) { return x ? Json(*x) : Json(nullptr); };
  return {{"entry", line.entry},
          {"time", iso_time(line.time)},
          {"dataset", dataset},
          {"kind", line.kind},
          {"state", line.state},
          {"what", line.what},
          {"by", line.by},
          {"why", line.why},
          {"part", line.part},
          {"key", line.key},
          {"epsilon_own", number(line.own)},
          {"epsilon_added", number(line.added)},
          {"period", line.period + 1},
          {"result", line.result},
          {"epsilon_this_data", number(line.this_data)}};
}

void run_report(const Arguments& arguments, Context& context) {
  ledger::Ledger ledger = open_ledger(arguments, ledger::OpenMode::read);
  const std::vector<Reported> all =
      read_all_of(ledger, arguments.given("dataset") ? arguments.text("dataset") : "");
  const ledger::Entry head = ledger.head();
  if (arguments.flag("json")) {
    Json json = {
        {"schema", 1}, {"store", ledger.store()}, {"head", head.hash}, {"lines", Json::array()}};
    for (const Reported& r : all) {
      for (const Line& line : r.story.lines) json["lines"].push_back(to_json(line, r.set().name));
      if (r.this_data) json["this_data"][r.set().name] = tally_json(*r.this_data);
    }
    context.out.print("{}\n", json.dump());
    return;
  }
  for (const Reported& r : all) {
    const ledger::Dataset& d = r.set();
    context.out.print("{}\n", context.bold(fmt::format(
                                  "{}: {} for one {} ({}){}{}", d.name, cap_text(d), d.unit,
                                  name(d.relation), period_text(d), d.closed ? ", closed" : "")));
    if (d.rho == 0)
      context.out.print("  spent {}, left {}, by {}{}\n", round_up(r.account.epsilon(), 4),
                        round_down(r.account.epsilon_left(), 4), name(d.accountant),
                        d.owner.empty() ? "" : "; owner " + d.owner);
    if (r.this_data)
      context.out.print("  about this data {} of {} {}\n", round_up(r.this_data->epsilon(), 4),
                        r.this_data->cap(), tally_text(*r.this_data));
    for (const Line& line : r.story.lines)
      context.out.print("  {}  {:<9} {} (entry {})\n", iso_time(line.time), verb(line),
                        sentence(line), line.entry);
    if (r.story.lines.empty()) context.out.print("  nothing was released yet\n");
  }
  context.out.print("{} entries, head {}\n", head.seq, head.hash);
}

// How sure somebody who was undecided may become of something about one unit, in percent, rounded
// up.
std::string surer(double epsilon) {
  const double percent = 100 / (1 + std::exp(-epsilon));
  return percent < 99 ? fmt::format("{:.0f}", std::ceil(percent))
                      : fmt::format("{}", round_up(percent, percent < 99.9 ? 3 : 6));
}

// Of a user all of them.
std::string records_of(const std::string& unit) { return unit == "user" ? "records" : unit; }

std::string neighbours_text(Relation relation, const std::string& unit) {
  switch (relation) {
    case Relation::add_remove:
      return unit == "user" ? "whether or not you, with all your records, are in the data"
                            : fmt::format("whether or not your {} is in the data", unit);
    case Relation::replace_one:
      return fmt::format("whatever your {} {}", records_of(unit), unit == "user" ? "say" : "says");
    case Relation::zero_out:
      return fmt::format("whether or not your {} left blank",
                         unit == "user" ? "records were" : unit + " was");
  }
  return "";
}

std::string promise_text(const ledger::Dataset& d, double epsilon, double delta) {
  std::string text = fmt::format(
      "All that is published from this data together would look almost the same {}: no result "
      "becomes more than {} times as likely or as unlikely by it",
      neighbours_text(d.relation, d.unit), round_up(std::exp(epsilon), 3));
  const std::string question =
      d.relation == Relation::add_remove
          ? "whether you are in the data"
          : fmt::format("between two things your {} may say", records_of(d.unit));
  if (delta > 0)
    text += fmt::format(", except with a probability of at most {}", round_up(delta, 3));
  return text +
         fmt::format(
             ". Somebody who was undecided {} (50 %) can be at most {} % sure of it afterwards. "
             "This holds whatever else they know. (epsilon = {}{}, {})",
             question, surer(epsilon), round_up(epsilon, 4),
             delta > 0 ? fmt::format(", delta = {}", round_up(delta, 3)) : "", name(d.relation));
}

void run_statement(const Arguments& arguments, Context& context) {
  ledger::Ledger ledger = open_ledger(arguments, ledger::OpenMode::read);
  const Reported r = std::move(read_all_of(ledger, arguments.text("dataset")).front());
  const ledger::Dataset& d = r.set();
  if (!r.account.has_epsilon())
    throw Unsupported("a cap in rho without a delta has no promise in plain words",
                      "create the data set with a delta");
  context.out.print("{}\n\n", context.bold("About the data set " + d.name));
  const auto cap = [](const ledger::Dataset& p, const ledger::Account& a) {
    return p.rho > 0 ? a.epsilon() : p.epsilon;
  };
  context.out.print("{}\n", promise_text(d, cap(d, r.account), d.delta));
  if (d.until > 0)
    context.out.print("This is the promise for what is published{}.\n", period_text(d));
  if (r.periods.size() > 1) {
    double epsilon = 0, delta = 0;  // losses of periods add up
    for (const ledger::Dataset& p : r.periods) epsilon += cap(p, r.account), delta += p.delta;
    context.out.print(
        "\nIt is period {} of the data. If you were in it all the time, the periods "
        "count together: ",
        r.periods.size());
    context.out.print("{}\n", promise_text(d, epsilon, delta));
  }
  if (!d.people.empty())
    context.out.print(
        "\nThe same people are in other data sets. What all of them lose together is "
        "kept under the promise of {}.\n",
        d.people);
  if (r.this_data)
    context.out.print(
        "\nIn addition the keeper of the data adds up{} what each result cost the records as they "
        "are, and publishes nothing that would take this above epsilon = {}. That tally is about "
        "these records only, says how much likelier results are on them than without yours but not "
        "how much unlikelier, and may be wrong with a probability of up to {}. Now it is at {}, "
        "with delta = {}, and some of it is too low with a probability of at most {}. It promises "
        "you nothing beyond the sentences above.\n",
        d.until > 0 || r.periods.size() > 1 ? ", anew in each period," : "", r.this_data->cap(),
        round_up(add_up(ledger::Tally::kMostRisk, d.delta), 3), round_up(r.this_data->epsilon(), 4),
        round_up(r.this_data->delta(), 3), round_up(r.this_data->risk(), 3));
  std::size_t results = 0, refused = 0;
  for (const Line& line : r.story.lines) {
    results += line.kind == "release" && line.state == "committed" ? 1 : 0;
    refused += line.kind == "refusal" ? 1 : 0;
  }
  context.out.print(
      "\nSo far {} {} published{}:\n", results, results == 1 ? "result was" : "results were",
      refused > 0 ? fmt::format(", and {} refused by the rules of the budget", refused) : "");
  for (const Line& line : r.story.lines)
    if (line.kind == "release" && line.state == "committed")
      context.out.print("  {}  {}{}\n", iso_day(line.time), line.what,
                        line.why.empty() ? "" : ", for " + line.why);
  for (const Line& line : r.story.lines)
    if (line.kind == "decision")
      context.out.print("  {}  the owner decided: {}: {}\n", iso_day(line.time), line.what,
                        line.why);
  context.out.print(
      "\n{}\n", d.closed ? "The data set is closed: nothing more will be published."
                : d.owner_key.empty()
                    ? "The promise cannot be changed."
                    : fmt::format("Only {} can renew or extend the promise, by a signed decision "
                                  "that stays in this list.",
                                  d.owner.empty() ? "the owner of the data" : d.owner));
}

void print_csv(const std::vector<Reported>& all, Context& context) {
  context.out.print(
      "entry,time,dataset,kind,state,what,by,why,part,key,epsilon_own,epsilon_added,"
      "period,result,epsilon_this_data\n");
  for (const Reported& r : all) {
    for (const Line& line : r.story.lines) {
      std::string text;
      for (const Json& value : to_json(line, r.set().name)) {
        if (!text.empty()) text += ',';
        text += value.is_string() ? csv_field(value.get<std::string>())
                : value.is_null() ? std::string()
                                  : value.dump();
      }
      context.out.print("{}\n", text);
    }
  }
}

void run_export(const Arguments& arguments, Context& context) {
  ledger::Ledger ledger = open_ledger(arguments, ledger::OpenMode::read);
  const std::string format = arguments.text("format");
  if (format == "csv") return print_csv(read_all_of(ledger, ""), context);
  Json all = Json::array();
  for (const ledger::Entry& e : ledger.entries()) {
    Json line = {{"hash", e.hash}, {"entry", Json::parse(e.body)}};
    if (format == "lines")
      context.out.print("{}\n", line.dump());
    else
      all.push_back(std::move(line));
  }
  if (format == "json") context.out.print("{}\n", Json{{"schema", 1}, {"entries", all}}.dump());
}

}  // namespace

Command ledger_report_command(std::vector<Option> store_options) {
  return {.name = "report",
          .summary = "what was released, refused and decided: by whom, why, when, at what cost",
          .description =
              "Each release with its epsilon on its own and what it added to the total of its "
              "data set when it was charged.",
          .examples = {{"All of it", "sotto ledger report --store budget.db"}},
          .options = std::move(store_options),
          .run = run_report};
}

Command ledger_statement_command(std::vector<Option> store_options) {
  return {.name = "statement",
          .summary = "the promise to the people in the data, in plain language",
          .examples = {{"To be published beside the data",
                        "sotto ledger statement --store budget.db --dataset census"}},
          .options = std::move(store_options),
          .run = run_statement};
}

Command ledger_export_command(std::vector<Option> store_options) {
  std::vector<Option> options = {
      {.name = "format",
       .type = Type::choice,
       .value = "F",
       .help = "lines: every entry as a line of JSON; json: all entries as one document; csv: the "
               "report as a table",
       .fallback = "lines",
       .choices = {"lines", "json", "csv"}}};
  for (Option& o : store_options) options.push_back(std::move(o));
  return {.name = "export",
          .summary = "print every entry for other programs",
          .examples = {{"Keep a copy", "sotto ledger export --store budget.db"},
                       {"As a table", "sotto ledger export --store budget.db --format csv"}},
          .options = std::move(options),
          .run = run_export};
}

}  // namespace sotto::cli
