// sotto ledger renew, raise, close: what the owner of a data set decides about its budget, signed.
#include <fmt/format.h>

#include "ledger.hpp"
#include "paid/charge.hpp"
#include "paid/signing.hpp"
#include "sotto/core/error.hpp"
#include "sotto/ledger/period.hpp"

namespace sotto::cli {
namespace {

std::string cap_of(const ledger::Receipt& r) {
  return r.rho_cap > 0 ? fmt::format("rho = {}", r.rho_cap)
                       : fmt::format("epsilon = {}, delta = {}", r.epsilon_cap, r.delta);
}

void record_decision(const Arguments& arguments, Context& context, const std::string& what) {
  ledger::Decision decision{.what = what};
  decision.reason = arguments.text("reason");
  decision.by = who_asks(arguments);
  if (what != "close") {
    decision.epsilon = arguments.maybe_number("epsilon").value_or(0);
    decision.delta = arguments.maybe_number("delta").value_or(0);
    decision.rho = arguments.maybe_number("rho").value_or(0);
  }
  if (what == "renew" && arguments.given("until"))
    decision.until = ledger::parse_time(arguments.text("until"));
  const std::string key = read_signing_key(arguments.text("sign"));
  ledger::Ledger ledger = open_ledger(arguments, ledger::OpenMode::write);
  const std::string name = arguments.text("dataset");
  const ledger::Receipt r = ledger.decide(name, decision, key);
  const ledger::Dataset after = ledger.dataset(name);
  std::string text = fmt::format("closed {}: nothing can be charged to it any more", name);
  if (what == "raise") text = fmt::format("raised {} to {}", name, cap_of(r));
  if (what == "renew")
    text = fmt::format("renewed {} with {}, {} to {}", name, cap_of(r), ledger::iso_day(after.from),
                       ledger::iso_day(after.until));
  print_receipt(r, text, arguments, context);
}

template <int which>
void run_ledger_decisions(const Arguments& arguments, Context& context) {
  constexpr const char* kWhat[] = {"renew", "raise", "close"};
  record_decision(arguments, context, kWhat[which]);
}

std::vector<Option> cap_options(const std::string& help) {
  return {{.name = "epsilon",
           .type = Type::number,
           .value = "E",
           .help = help,
           .range = Range::above(0)},
          {.name = "delta",
           .type = Type::number,
           .value = "D",
           .help = "its failure probability; default: as it was",
           .range = Range::inside(0, 1)},
          {.name = "rho",
           .type = Type::number,
           .value = "R",
           .help = "for a cap in zero-concentrated DP",
           .range = Range::above(0)}};
}

std::string example(const std::string& what, const std::string& period,
                    const std::string& options) {
  return fmt::format(
      "sotto key new for-{0} && sotto ledger create --store decided.db --dataset {0}d --epsilon 1 "
      "--delta 1e-6{1} --owner-key for-{0}.pub && sotto ledger {0} --store decided.db --dataset "
      "{0}d{2} --sign for-{0} --reason 'board meeting of 16 November'",
      what, period, options);
}

}  // namespace

Command ledger_decision_command(const std::string& what, std::vector<Option> store_options) {
  std::vector<Option> options = {
      {.name = "sign",
       .type = Type::file,
       .value = "KEY",
       .help = "the private key of the data set's owner, which signs the decision",
       .required = true},
      {.name = "reason",
       .type = Type::text,
       .value = "TEXT",
       .help = "why; stays in the ledger",
       .required = true},
      {.name = "by",
       .type = Type::text,
       .value = "NAME",
       .help = "who decides; default: the user who runs it"}};
  Command command;
  command.name = what;
  if (what == "renew") {
    command.summary = "begin the next period of a budget, with nothing spent";
    command.description =
        "What was lost in earlier periods stays lost: for people who are in the data all the time "
        "the periods add up, and sotto ledger statement says so.";
    command.examples = {{"Another year", example(what, " --period year --from 2020-01-01", "")}};
    command.run = run_ledger_decisions<0>;
    for (Option& o : cap_options("the cap of the next period; default: as it was"))
      options.push_back(std::move(o));
    options.push_back({.name = "until",
                       .type = Type::text,
                       .value = "DAY",
                       .help = "where the next period ends; default: by --period of the data set"});
  } else if (what == "raise") {
    command.summary = "give a budget more, with a reason";
    command.description =
        "All releases so far are counted again under the new cap. Do not decide by what the "
        "releases have shown: the promise holds for caps that do not depend on them.";
    command.examples = {{"From epsilon 1 to 2", example(what, "", " --epsilon 2")}};
    command.run = run_ledger_decisions<1>;
    for (Option& o : cap_options("the new cap")) options.push_back(std::move(o));
  } else {
    command.summary = "end a budget: nothing can be charged any more";
    command.examples = {{"The study is over", example(what, "", "")}};
    command.run = run_ledger_decisions<2>;
  }
  for (Option& o : store_options) options.push_back(std::move(o));
  command.options = std::move(options);
  return command;
}

}  // namespace sotto::cli
