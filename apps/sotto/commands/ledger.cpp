// sotto ledger: the budgets of data sets, and what was spent of them.
#include "ledger.hpp"

#include <fmt/format.h>

#include "paid/charge.hpp"
#include "paid/fingerprinting.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/rounded_text.hpp"
#include "sotto/data/byte_source.hpp"
#include "sotto/data/fingerprint.hpp"
#include "sotto/ledger/period.hpp"
#include "sotto/ledger/verify.hpp"

namespace sotto::cli {

ledger::StoreLocation ledger_location(const Arguments& arguments) {
  const auto location = store_location(arguments, "store");
  if (!location)
    throw InvalidArgument(fmt::format("{} needs --store STORE", arguments.title()),
                          "a file such as budget.db or a postgresql:// URL; or set SOTTO_LEDGER");
  return *location;
}

ledger::Ledger open_ledger(const Arguments& arguments, ledger::OpenMode mode) {
  return ledger::Ledger::open(ledger_location(arguments), mode);
}

namespace {

using Json = nlohmann::ordered_json;
using ledger::OpenMode;

std::string maybe(const Arguments& arguments, const std::string& name) {
  return arguments.given(name) ? arguments.text(name) : "";
}

Spec spec_from(const Arguments& arguments, const std::string& option) {
  constexpr std::size_t kLimit = std::size_t{64} << 20;
  return parse_spec(read_all(arguments.text(option), kLimit));
}

}  // namespace

void print_receipt(const ledger::Receipt& receipt, const std::string& text,
                   const Arguments& arguments, Context& context) {
  if (arguments.flag("json")) {
    Json json = {{"schema", 1}};
    json.update(to_json(receipt));
    context.out.print("{}\n", json.dump());
  } else {
    context.out.print("{}\nentry {}, head {}\n", text, receipt.entry, receipt.head);
  }
}

namespace {

// From the first moment of the period to its end, by --period or by hand.
void set_period(ledger::Dataset& d, const Arguments& arguments) {
  d.period = maybe(arguments, "period");
  if (arguments.given("from")) d.from = ledger::parse_time(arguments.text("from"));
  if (!d.period.empty() && arguments.given("until"))
    throw InvalidArgument("--period and --until both say when it ends", "give one of them");
  if (arguments.given("until")) d.until = ledger::parse_time(arguments.text("until"));
  if (d.period.empty()) return;
  if (d.from == 0) d.from = ledger::parse_time(ledger::iso_day(ledger::system_clock()));
  d.until = ledger::end_of_period(d.from, d.period);
}

ledger::Dataset dataset_of(const Arguments& arguments) {
  ledger::Dataset d;
  d.name = arguments.text("dataset");
  d.unit = arguments.text("unit");
  d.relation = parse_relation(arguments.text("relation"));
  d.epsilon = arguments.maybe_number("epsilon").value_or(0);
  d.rho = arguments.maybe_number("rho").value_or(0);
  d.delta = arguments.maybe_number("delta").value_or(0);
  d.this_data_epsilon = arguments.maybe_number("this-data-epsilon").value_or(0);
  if ((d.epsilon > 0) == (d.rho > 0))
    throw InvalidArgument("sotto ledger create needs a cap: --epsilon E [--delta D] or --rho R",
                          "for example --epsilon 3 --delta 1e-6");
  const bool chosen = arguments.given("accountant");
  d.accountant = parse_accountant(arguments.text("accountant"));
  if (d.rho > 0 && !chosen) d.accountant = Accountant::zcdp;
  const bool adaptive = d.accountant != Accountant::pld && d.rho == 0;
  // A quarter costs about one hundredth of ε and leaves room for releases with a δ of their own.
  d.own_delta = arguments.maybe_number("own-delta").value_or(adaptive ? d.delta / 4 : 0);
  if (arguments.given("parts")) d.parts = arguments.list("parts");
  if (arguments.given("purposes")) d.purposes = arguments.list("purposes");
  d.owner = maybe(arguments, "owner");
  if (arguments.given("owner-key")) d.owner_key = read_all(arguments.text("owner-key"), 1 << 16);
  set_period(d, arguments);
  d.people = maybe(arguments, "people");
  if (arguments.given("columns")) d.columns = arguments.list("columns");
  if (arguments.given("fingerprint-key") != arguments.given("data"))
    throw InvalidArgument("--fingerprint-key and --data go together",
                          "the fingerprint of the data under the key is declared");
  if (arguments.given("data"))
    d.fingerprint = fingerprint(read_fingerprint_key(arguments), arguments.text("data"));
  if (arguments.given("plan")) {
    const Spec plan = spec_from(arguments, "plan");
    if (plan.relation != d.relation)
      throw InvalidArgument("the plan and the data set have different relations");
    d.plan = plan.events;
  }
  return d;
}

void run_create(const Arguments& arguments, Context& context) {
  const ledger::Dataset d = dataset_of(arguments);
  ledger::check(d);
  ledger::Ledger ledger = open_ledger(arguments, OpenMode::create);
  const ledger::Receipt r = ledger.create(d);
  const std::string cap = d.rho > 0 ? fmt::format("rho = {}", d.rho)
                                    : fmt::format("epsilon = {}, delta = {}", d.epsilon, d.delta);
  print_receipt(r,
                fmt::format("created {} with {}{} ({}, {}, unit: one {}{})", d.name, cap,
                            d.this_data_epsilon > 0
                                ? fmt::format(" and a tally of this data up to epsilon = {}",
                                              d.this_data_epsilon)
                                : std::string(),
                            name(d.accountant), name(d.relation), d.unit,
                            d.until > 0 ? ", until " + ledger::iso_day(d.until) : std::string()),
                arguments, context);
}

ledger::Charge charge_of(const Arguments& arguments) {
  return {.dataset = arguments.text("dataset"),
          .spec = spec_from(arguments, "spec"),
          .key = arguments.text("key"),
          .part = maybe(arguments, "part"),
          .what = maybe(arguments, "what"),
          .purpose = maybe(arguments, "purpose"),
          .by = who_asks(arguments)};
}

void run_charge(const Arguments& arguments, Context& context) {
  const ledger::Charge charge = charge_of(arguments);
  const bool dry = arguments.flag("dry-run");
  ledger::Ledger ledger = open_ledger(arguments, dry ? OpenMode::read : OpenMode::write);
  const ledger::Receipt r = dry ? ledger.quote(charge) : ledger.charge(charge);
  print_receipt(r,
                r.replayed
                    ? fmt::format("the key '{}' is known: nothing new was charged", charge.key)
                    : statement_of(r, charge.spec, dry ? "would fit: would charge" : "charged",
                                   ledger.largest_like(charge)),
                arguments, context);
}

void run_reserve(const Arguments& arguments, Context& context) {
  const ledger::Charge charge = charge_of(arguments);
  ledger::Ledger ledger = open_ledger(arguments, OpenMode::write);
  const ledger::Receipt r = ledger.reserve(charge);
  print_receipt(r,
                r.replayed
                    ? fmt::format("the key '{}' is known: nothing new was reserved", charge.key)
                    : statement_of(r, charge.spec, "reserved", ledger.largest_like(charge)),
                arguments, context);
}

void run_commit(const Arguments& arguments, Context& context) {
  ledger::Ledger ledger = open_ledger(arguments, OpenMode::write);
  const ledger::Receipt r = ledger.commit(static_cast<std::int64_t>(arguments.whole("entry")));
  print_receipt(r, fmt::format("committed entry {}", r.entry), arguments, context);
}

void run_abandon(const Arguments& arguments, Context& context) {
  ledger::Ledger ledger = open_ledger(arguments, OpenMode::write);
  const ledger::Receipt r = ledger.abandon(static_cast<std::int64_t>(arguments.whole("entry")),
                                           arguments.text("reason"), who_asks(arguments));
  print_receipt(r, fmt::format("abandoned entry {}: its budget is free again", r.entry), arguments,
                context);
}

void run_ledger_verify(const Arguments& arguments, Context& context) {
  std::optional<ledger::Ledger> ledger;
  ledger::Verified v;
  try {
    ledger.emplace(open_ledger(arguments, OpenMode::read));
    v = ledger::verify(*ledger, maybe(arguments, "pin"));
  } catch (const DataError& e) {
    throw VerificationFailed(e.what(), e.hint());
  }
  if (arguments.flag("json")) {
    context.out.print("{}\n", Json{{"schema", 1},
                                   {"verified", true},
                                   {"entries", v.entries},
                                   {"datasets", v.datasets},
                                   {"store", v.store},
                                   {"head", v.head}}
                                  .dump());
    return;
  }
  context.out.print(
      "verified: {} entries, {} data sets, every charge within its budget{}\nhead {}\n", v.entries,
      v.datasets, arguments.given("pin") ? ", the pinned entry is there" : "", v.head);
}

std::vector<Option> with_store(std::vector<Option> own, bool json = true) {
  std::vector<Option> options = {
      {.name = "store",
       .type = Type::file,
       .value = "STORE",
       .help = "the ledger: a file or a postgresql:// URL; default: $SOTTO_LEDGER"},
      {.name = "dsn-file",
       .type = Type::file,
       .value = "FILE",
       .help = "read the connection string, with its password, from a file"}};
  for (Option& o : own) options.push_back(std::move(o));
  options.push_back({.name = "wait",
                     .type = Type::number,
                     .value = "S",
                     .help = "seconds to wait for another writer",
                     .fallback = "30",
                     .range = Range::from(0)});
  if (json) options.push_back(json_option());
  options.push_back(output_option());
  return options;
}

Option dataset_option(bool required = true) {
  return {.name = "dataset",
          .type = Type::text,
          .value = "NAME",
          .help = "the data set",
          .required = required};
}

Option by_option(const std::string& help) {
  return {.name = "by",
          .type = Type::text,
          .value = "NAME",
          .help = help + "; default: the user who runs it"};
}

std::vector<Option> charge_options() {
  return {dataset_option(),
          {.name = "spec",
           .type = Type::file,
           .value = "FILE",
           .help = "the events of the release as JSON; - reads standard input",
           .required = true},
          {.name = "key",
           .type = Type::text,
           .value = "K",
           .help = "names this release: the same key with the same events is charged once",
           .required = true},
          {.name = "part",
           .type = Type::text,
           .value = "NAME",
           .help = "the part that is read; default: the whole data set"},
          {.name = "what",
           .type = Type::text,
           .value = "TEXT",
           .help = "the release in words, for reports"},
          {.name = "purpose", .type = Type::text, .value = "TEXT", .help = "what it is for"},
          by_option("who asks")};
}

std::vector<Option> create_options() {
  Option relation = relation_option();
  relation.fallback = "add_remove";
  return {dataset_option(),
          {.name = "epsilon",
           .type = Type::number,
           .value = "E",
           .help = "the cap, together with --delta",
           .range = Range::above(0)},
          {.name = "delta",
           .type = Type::number,
           .value = "D",
           .help = "failure probability of the cap; without it the cap is pure",
           .range = Range::inside(0, 1)},
          {.name = "this-data-epsilon",
           .type = Type::number,
           .value = "E",
           .help = "a second cap, beside --epsilon: what releases cost these very records, added "
                   "up, where labels of teachers count with the epsilon_upper that leaves with "
                   "them; needs room for one guarantee, cannot be raised, may be wrong with "
                   "probability delta + 0.2, and is no promise for other data",
           .range = Range::above(0)},
          {.name = "rho",
           .type = Type::number,
           .value = "R",
           .help = "a cap in zero-concentrated DP instead of --epsilon",
           .range = Range::above(0)},
          relation,
          {.name = "accountant",
           .type = Type::choice,
           .value = "NAME",
           .help = "how releases add up; pld only with --plan",
           .fallback = "rdp",
           .choices = {"rdp", "zcdp", "gdp", "pld"}},
          {.name = "plan",
           .type = Type::file,
           .value = "FILE",
           .help = "all releases there will ever be, as a specification; for pld"},
          {.name = "own-delta",
           .type = Type::number,
           .value = "D",
           .help = "of --delta, for releases with a failure probability of their own; default: a "
                   "quarter",
           .range = Range::from(0)},
          {.name = "unit",
           .type = Type::text,
           .value = "WHO",
           .help = "whose data is protected",
           .fallback = "record"},
          {.name = "parts",
           .type = Type::list,
           .value = "A,B",
           .help = "disjoint parts that can be charged separately: a record is in at most one"},
          {.name = "purposes",
           .type = Type::list,
           .value = "A,B",
           .help = "the only purposes it may be charged for"},
          {.name = "owner", .type = Type::text, .value = "NAME", .help = "who answers for it"},
          {.name = "owner-key",
           .type = Type::file,
           .value = "PUB",
           .help = "whose signature renews, raises or closes it (see sotto key new)"},
          {.name = "period",
           .type = Type::choice,
           .value = "P",
           .help = "how long it lasts; after that it has to be renewed",
           .choices = {"month", "quarter", "half-year", "year"}},
          {.name = "from",
           .type = Type::text,
           .value = "DAY",
           .help = "the first day on which it may be charged, as 2027-01-31; with --period today"},
          {.name = "until",
           .type = Type::text,
           .value = "DAY",
           .help = "the day from which on it may not be charged any more"},
          {.name = "people",
           .type = Type::text,
           .value = "NAME",
           .help = "another data set about the same people: every charge uses its budget too"},
          {.name = "columns",
           .type = Type::list,
           .value = "A,B",
           .help = "the columns of its file: a file with others is refused at each charge"},
          {.name = "data",
           .type = Type::file,
           .value = "FILE",
           .help = "its file: other data is refused at each charge; with --fingerprint-key"},
          {.name = "fingerprint-key",
           .type = Type::file,
           .value = "KEY",
           .help = "the secret key of the file's fingerprint (see sotto key fingerprint)"}};
}

Option entry_option(const std::string& help) {
  return {.name = "entry", .type = Type::whole, .value = "N", .help = help, .required = true};
}

// A function: the table is made before globals of this file may be.
std::string gaussian() {
  return "echo "
         "'{\"schema\":1,\"relation\":\"add_remove\",\"events\":[{\"gaussian\":{\"noise_"
         "multiplier\":20}}]}' | ";
}

}  // namespace

Command ledger_command() {
  std::vector<Option> charge = charge_options();
  charge.push_back(
      {.name = "dry-run", .type = Type::flag, .help = "say whether it would fit; write nothing"});
  return {
      .name = "ledger",
      .summary = "keep the privacy budget of data sets",
      .description =
          "A ledger is a file (SQLite) or a PostgreSQL database. It stores what was done, as "
          "events, in a chain of hashes, and refuses what its budgets do not cover with exit "
          "code 4. Commands that read private data charge it with --ledger STORE --dataset NAME: "
          "reserved before data is read, committed before the result leaves; a crash in between "
          "stays spent.",
      .examples = {{"A budget of epsilon 3 for a data set",
                    "sotto ledger create --store budget.db --dataset census --epsilon 3 --delta "
                    "1e-6"},
                   {"What was spent", "sotto ledger show --store budget.db"}},
      .commands = {
          {.name = "create",
           .summary = "give a data set a budget; makes the ledger if there is none",
           .examples = {{"Epsilon 3, by the Rényi accountant",
                         "sotto ledger create --store budget.db --dataset survey --epsilon 3 "
                         "--delta 1e-6 --relation add_remove"},
                        {"Two regions that can be charged separately",
                         "sotto ledger create --store budget.db --dataset regions --epsilon 1 "
                         "--delta 1e-6 --parts north,south --owner statistics"}},
           .options = with_store(create_options()),
           .run = run_create},
          {.name = "show",
           .summary = "what was spent and what is left, as a table",
           .description =
               "The spend is what the data set's accountant grants releases that may depend on "
               "each other. The value beside it, by privacy loss distributions, is tighter and "
               "holds only if all releases were fixed in advance.",
           .examples = {{"All data sets", "sotto ledger show --store budget.db"},
                        {"With the newest releases of one",
                         "sotto ledger show --store budget.db --dataset census --entries 5"}},
           .options = with_store({dataset_option(false),
                                  {.name = "entries",
                                   .type = Type::whole,
                                   .value = "N",
                                   .help = "also list the newest N releases"}}),
           .run = run_ledger_show},
          {.name = "charge",
           .summary = "pay for a release: reserve and commit at once",
           .examples =
               {{"Charge what a specification describes",
                 gaussian() +
                     "sotto ledger charge --store budget.db --dataset census --spec - --key run-1"},
                {"Would it fit?", gaussian() + "sotto ledger charge --store budget.db --dataset "
                                               "census --spec - --key run-2 --dry-run"}},
           .options = with_store(std::move(charge)),
           .run = run_charge},
          {.name = "reserve",
           .summary = "set budget aside before private data is read",
           .examples = {{"Reserve", gaussian() + "sotto ledger reserve --store budget.db --dataset "
                                                 "census --spec - --key run-3"}},
           .options = with_store(charge_options()),
           .run = run_reserve},
          {.name = "commit",
           .summary = "make a reservation final, before its result leaves",
           .examples = {{"The reservation that was entry 6",
                         "sotto ledger commit --store budget.db --entry 6"}},
           .options = with_store({entry_option("the reservation")}),
           .run = run_commit},
          {.name = "abandon",
           .summary = "give back a reservation whose result never left",
           .examples = {{"Reserved as entry 8, then the run was called off",
                         gaussian() +
                             "sotto ledger reserve --store budget.db --dataset census --spec - "
                             "--key run-4 && sotto ledger abandon --store budget.db --entry 8 "
                             "--reason 'called off before any data was read'"}},
           .options = with_store({entry_option("the reservation"),
                                  {.name = "reason",
                                   .type = Type::text,
                                   .value = "TEXT",
                                   .help = "why nothing can have left; stays in the ledger",
                                   .required = true},
                                  by_option("who says so")}),
           .run = run_abandon},
          {.name = "verify",
           .summary = "recompute the chain of hashes and every spend",
           .description = "Exit code 5 when anything does not hold. Keep the head that it prints "
                          "elsewhere: --pin HEAD later proves that the store was not rolled back.",
           .examples = {{"Check all of it", "sotto ledger verify --store budget.db"}},
           .options = with_store({{.name = "pin",
                                   .type = Type::text,
                                   .value = "HEAD",
                                   .help = "a head seen earlier; it must be part of the chain"}}),
           .run = run_ledger_verify},
          ledger_report_command(with_store({dataset_option(false)})),
          ledger_statement_command(with_store({dataset_option()}, false)),
          ledger_export_command(with_store({}, false)),
          ledger_decision_command("renew", with_store({dataset_option()})),
          ledger_decision_command("raise", with_store({dataset_option()})),
          ledger_decision_command("close", with_store({dataset_option()})),
          ledger_roles_command(with_store({})),
      }};
}

}  // namespace sotto::cli
