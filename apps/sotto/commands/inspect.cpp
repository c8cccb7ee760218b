// sotto inspect: is this model private, and how much? sotto verify: is what its certificate says true?
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "../certify.hpp"
#include "../charge.hpp"
#include "../signing.hpp"
#include "model_options.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/accounting/statement.hpp"
#include "sotto/core/certified_directory.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/event_json.hpp"
#include "sotto/core/rounded_text.hpp"
#include "sotto/data/byte_source.hpp"
#include "sotto/ledger/history.hpp"
#include "sotto/ledger/verify.hpp"

namespace sotto::cli {
namespace {

using Json = nlohmann::ordered_json;

void run_inspect(const Arguments& arguments, Context& context) {
  const CertifiedDirectory artifact = read_certified(arguments.positionals().front());
  const Certificate& c = artifact.certificate;
  if (arguments.flag("json")) {
    context.out.print("{}\n", to_json(c).dump());
    return;
  }
  if (!c.is_private()) {
    context.out.print(
        "{}\n",
        context.bold("This model is NOT PRIVATE: it was made without differential privacy."));
    return;
  }
  context.out.print("{}\n", context.bold(fmt::format(
                                "This model is differentially private: epsilon = {}, delta = {}.",
                                round_up(c.epsilon), round_up(c.delta))));
  if (!c.secure())
    context.out.print("{}\n", context.bold("INSECURE: it was made with a fixed seed, so it is NOT "
                                           "PRIVATE against anyone who knows the seed."));
  Bound bound{.upper = c.epsilon,
              .lower = 0,
              .accountant = parse_accountant(c.accountant),
              .conversion = c.conversion};
  if (c.delta > 0)
    context.out.print("{}", statement(*c.spec, Delta(c.delta), bound, "one " + c.unit));
  context.out.print("method: {}: {}\n", c.method, c.description);
  for (const std::string& assumption : c.assumptions)
    context.out.print("assumes: {}\n", assumption);
  context.out.print("made by sotto {}, random generator {}{}\n", c.version, c.generator,
                    c.dataset.empty() ? "" : ", data set " + c.dataset);
}

// The ledger holds, has the certificate's entry for the same events, committed, and its chain contains the certificate's head.
void compare_ledger(const Certificate& c, const ledger::StoreLocation& location) {
  const auto fail = [](const std::string& why) {
    throw VerificationFailed(why, "do not rely on this artifact");
  };
  if (!c.ledger) fail("the certificate names no entry of a ledger");
  ledger::Ledger ledger = ledger::Ledger::open(location, ledger::OpenMode::read);
  if (ledger.store() != c.ledger->store) fail("the certificate was charged to another ledger");
  ledger::verify(ledger, c.ledger->head);
  nlohmann::json events = nlohmann::json::array();
  for (const Event& e : c.spec->events) events.push_back(nlohmann::json(to_json(e)));
  for (const ledger::Release& r : ledger::releases(ledger.entries(c.ledger->dataset))) {
    if (r.entry != c.ledger->entry) continue;
    if (r.state != "committed") fail(fmt::format("entry {} of the ledger is {}", r.entry, r.state));
    if (r.events != events.dump())
      fail(fmt::format("entry {} of the ledger paid for other events", r.entry));
    return;
  }
  fail(fmt::format("the ledger has no release with entry {}", c.ledger->entry));
}

void run_verify(const Arguments& arguments, Context& context) {
  const std::string place = arguments.positionals().front();
  const CertifiedDirectory artifact = read_certified(place);  // checks the digests
  const Certificate& c = artifact.certificate;
  if (!c.is_private())
    throw VerificationFailed(
        fmt::format("'{}' claims no privacy: there is nothing to verify", place),
        "train with a budget");
  if (!c.secure())
    throw VerificationFailed(
        fmt::format("'{}' was made with a fixed seed and is not private", place),
        "train again without --insecure-seed");
  const Bound bound = guarantee(*c.spec, c.delta, kCertificateAccounting);
  const bool holds = c.epsilon >= bound.upper * (1 - 1e-9);
  if (!holds) {
    throw VerificationFailed(
        fmt::format("the certificate claims epsilon = {}, but its events cost {}", c.epsilon,
                    round_up(bound.upper)),
        "do not rely on this artifact");
  }
  std::optional<std::string> key;
  if (arguments.given("key")) key = read_all(arguments.text("key"), 1 << 16);
  const bool is_signed = check_certificate_files(place, key);
  auto location = store_location(arguments, "ledger");
  const bool asked = arguments.given("ledger") || arguments.given("dsn-file");
  if (!asked && !c.ledger)
    location.reset();  // SOTTO_LEDGER says nothing about what was never charged
  if (location) compare_ledger(c, *location);
  if (arguments.flag("json")) {
    context.out.print("{}\n", Json{{"schema", 1},
                                   {"verified", true},
                                   {"signed", is_signed},
                                   {"ledger_compared", location.has_value()},
                                   {"epsilon", c.epsilon},
                                   {"recomputed", bound.upper},
                                   {"delta", c.delta}}
                                  .dump());
  } else {
    context.out.print(
        "verified: the files are the certified ones and the events cost epsilon = {} at delta = {} "
        "(claimed {})\n",
        round_up(bound.upper), round_up(c.delta), round_up(c.epsilon));
  }
}

Command on_directory(std::string name, std::string summary, std::string description,
                     Example example, void (*run)(const Arguments&, Context&)) {
  return {.name = std::move(name),
          .summary = std::move(summary),
          .description = std::move(description),
          .examples = {std::move(example)},
          .positionals = {{.name = "DIR",
                           .help = "the directory that sotto train wrote",
                           .type = Type::file}},
          .options = {json_option(), output_option()},
          .run = run};
}

}  // namespace

Command inspect_command() {
  return on_directory("inspect", "say whether a model is private, and how much", "",
                      {"The guarantee in words", "sotto inspect model"}, run_inspect);
}

Command verify_command() {
  Command command =
      on_directory("verify", "recompute a model's epsilon and check its files",
                   "Recomputes epsilon from the events in the certificate and compares the "
                   "digests of the files. Exit code 5 when anything does not match.",
                   {"Check an artifact", "sotto verify model"}, run_verify);
  command.options.push_back({.name = "key",
                             .type = Type::file,
                             .value = "PUB",
                             .help = "the public key by which the certificate must be signed"});
  command.options.push_back({.name = "ledger",
                             .type = Type::file,
                             .value = "STORE",
                             .help = "also look up the charge in this ledger"});
  command.options.push_back({.name = "dsn-file",
                             .type = Type::file,
                             .value = "FILE",
                             .help = "read the ledger's connection string from a file"});
  return command;
}

}  // namespace sotto::cli
