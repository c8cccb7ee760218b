#include "paid/charge.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <regex>

#include "shell/interruption.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/core/random_source.hpp"
#include "sotto/core/rounded_text.hpp"
#include "sotto/data/byte_source.hpp"

namespace sotto::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string fresh_key(const std::string& title) {
  std::array<std::byte, 8> bytes{};
  system_random(bytes);
  std::string key = title;
  for (char& c : key) c = c == ' ' ? '-' : c;
  key += '-';
  for (std::byte b : bytes) key += fmt::format("{:02x}", std::to_integer<int>(b));
  return key;
}

// A password on the command line is in the shell's history and in every list of processes.
void refuse_password(const std::string& place, const std::string& option) {
  static const std::regex password(R"(//[^/@]*:[^/@]+@|[?&\s]password\s*=|^password\s*=)");
  if (std::regex_search(place, password))
    throw InvalidArgument(
        fmt::format("--{} contains a password", option),
        "put the connection string into a file for --dsn-file, or the password into PGPASSWORD or "
        "~/.pgpass");
}

// Where this machine remembers the heads of servers' ledgers. An empty SOTTO_WITNESS: nowhere.
std::string witness_directory() {
  const auto value = [](const char* name) {
    const char* text = std::getenv(name);
    return std::string(text == nullptr ? "" : text);
  };
  if (std::getenv("SOTTO_WITNESS") != nullptr) return value("SOTTO_WITNESS");
  if (!value("XDG_STATE_HOME").empty()) return value("XDG_STATE_HOME") + "/sotto";
  return value("HOME").empty() ? "" : value("HOME") + "/.local/state/sotto";
}

std::string maybe(const Arguments& arguments, const std::string& name) {
  return find_option(arguments.command(), name) != nullptr && arguments.given(name)
             ? arguments.text(name)
             : "";
}

}  // namespace

std::vector<Option> payment_options(bool with_dataset) {
  const std::string group = "Ledger";
  std::vector<Option> options = {
      {.name = "ledger",
       .type = Type::file,
       .value = "STORE",
       .help = "charge this ledger, a file or a postgresql:// URL; default: $SOTTO_LEDGER",
       .group = group},
      {.name = "dsn-file",
       .type = Type::file,
       .value = "FILE",
       .help = "read the ledger's connection string, with its password, from a file",
       .group = group},
      {.name = "dataset",
       .type = Type::text,
       .value = "NAME",
       .help = "the data set whose budget is charged",
       .group = group},
      {.name = "part",
       .type = Type::text,
       .value = "NAME",
       .help = "the declared part of the data set that is read; default: all of it",
       .group = group},
      {.name = "purpose",
       .type = Type::text,
       .value = "TEXT",
       .help = "what the release is for, kept in the ledger",
       .group = group},
      {.name = "key",
       .type = Type::text,
       .value = "K",
       .help = "names this release: a retry with the same key is not charged again",
       .group = group}};
  if (!with_dataset) options.erase(options.begin() + 2);
  return options;
}

std::optional<ledger::StoreLocation> store_location(const Arguments& arguments,
                                                    const std::string& option) {
  const std::string given = maybe(arguments, option), file = maybe(arguments, "dsn-file");
  if (!given.empty() && !file.empty())
    throw InvalidArgument(fmt::format("--{} and --dsn-file both name a ledger", option),
                          "give one of them");
  ledger::StoreLocation location{.place = {}, .witness = witness_directory()};
  if (!file.empty()) {
    location.place = read_all(file, 1 << 16);
    while (!location.place.empty() &&
           (location.place.back() == '\n' || location.place.back() == ' '))
      location.place.pop_back();
    if (!ledger::is_postgres(location.place))
      throw DataError(fmt::format("'{}' holds no PostgreSQL connection string", file),
                      "for example: postgresql://user:password@host/database");
  } else if (!given.empty()) {
    refuse_password(given, option);
    location.place = given;
  } else if (const char* environment = std::getenv("SOTTO_LEDGER");
             environment != nullptr && *environment != '\0') {
    location.place = environment;
  } else {
    return std::nullopt;
  }
  if (const std::string wait = maybe(arguments, "wait"); !wait.empty())
    location.patience =
        std::chrono::milliseconds(static_cast<long>(1000 * arguments.number("wait")));
  return location;
}

Json to_json(const ledger::Receipt& r) {
  Json json = {{"entry", r.entry},
               {"dataset", r.dataset},
               {"epsilon_spent", nullptr},
               {"epsilon_left", nullptr}};
  if (r.has_epsilon) json["epsilon_spent"] = r.epsilon_spent;
  if (r.epsilon_cap > 0) {
    json["epsilon_left"] = r.epsilon_left;
    json["epsilon_cap"] = r.epsilon_cap;
  }
  json["delta"] = r.delta;
  if (r.rho_cap > 0) {
    json["rho_spent"] = r.rho_spent;
    json["rho_left"] = std::max(0.0, r.rho_cap - r.rho_spent);
    json["rho_cap"] = r.rho_cap;
  }
  json["replayed"] = r.replayed;
  json["committed"] = r.committed;
  json["store"] = r.store;
  json["head"] = r.head;
  return json;
}

std::string statement_of(const ledger::Receipt& r, const Spec& spec, const std::string& verb) {
  std::string what = verb;
  if (r.rho_cap == 0) {
    try {
      what += " epsilon = " + round_up(guarantee(spec, r.delta).upper, 4);
    } catch (const AccountingError&) {  // no number of its own; what is left says enough
    }
    return fmt::format("{} to {}; {} of {} left", what, r.dataset, round_down(r.epsilon_left, 4),
                       r.epsilon_cap);
  }
  return fmt::format("{} to {}; rho {} of {} left", what, r.dataset,
                     round_down(std::max(0.0, r.rho_cap - r.rho_spent), 4), r.rho_cap);
}

Payment::Payment(const Arguments& arguments, std::optional<Spec> spec, std::string unit)
    : location_(store_location(arguments, "ledger")) {
  const std::string dataset = maybe(arguments, "dataset");
  if (!location_) {
    for (const char* option : {"part", "purpose", "key"}) {
      if (!maybe(arguments, option).empty())
        throw InvalidArgument(fmt::format("--{} is about a ledger, and none is named", option),
                              "add --ledger STORE --dataset NAME, or set SOTTO_LEDGER");
    }
    return;
  }
  if (dataset.empty())
    throw InvalidArgument("a ledger is named, but not whose budget is to be charged",
                          "add --dataset NAME, or unset SOTTO_LEDGER");
  if (!spec)
    throw InvalidArgument("what is asked for is NOT PRIVATE, so no budget can pay for it",
                          "ask for privacy, or leave out the ledger (unset SOTTO_LEDGER)");
  charge_ = {.dataset = dataset,
             .spec = std::move(*spec),
             .key = maybe(arguments, "key"),
             .part = maybe(arguments, "part"),
             .purpose = maybe(arguments, "purpose"),
             .unit = std::move(unit)};
  if (charge_.key.empty()) charge_.key = fresh_key(arguments.title());
  if (const char* user = std::getenv("USER"); user != nullptr) charge_.by = user;
}

namespace {

std::string stays_reserved(const ledger::Receipt& receipt, const ledger::Charge& charge) {
  return fmt::format(
      "entry {} of the ledger stays reserved: run again with --key {}{}, it is not charged twice",
      receipt.entry, charge.key, charge.run.empty() ? "" : " --resume");
}

}  // namespace

void Payment::quote(Context& context, Json& json) {
  if (!active()) return;
  ledger::Ledger ledger = ledger::Ledger::open(*location_, ledger::OpenMode::read);
  try {
    const ledger::Receipt r = ledger.quote(charge_);
    json["ledger"] = Json{{"fits", true}};
    json["ledger"].update(to_json(r));
    json["ledger"].erase("entry");
    context.note(statement_of(r, charge_.spec, "would fit: would charge"));
  } catch (const BudgetExceeded&) {
    json["ledger"] = Json{{"fits", false}, {"dataset", charge_.dataset}};
    throw;
  }
}

void Payment::reserve(Context& context, const std::string& result) {
  if (!active()) return;
  ledger_.emplace(ledger::Ledger::open(*location_, ledger::OpenMode::write));
  receipt_ = ledger_->reserve(charge_);
  if (receipt_->committed) {
    // Paid for, to be written out again: the state of the run stands after the digest of its artifact.
    if (!result.empty() && receipt_->result.ends_with(" " + result)) return;
    throw InvalidArgument(
        fmt::format("the key '{}' is used up: entry {} was committed, so its result may be out",
                    charge_.key, receipt_->entry),
        "running again draws fresh noise, which is another release: give it a key of its own");
  }
  set_interruption_note("sotto: " + stays_reserved(*receipt_, charge_));
  if (receipt_->replayed)
    context.note(
        fmt::format("takes up reservation {} of {} again", receipt_->entry, charge_.dataset));
}

void Payment::commit(Context& context, const std::string& result) {
  if (!active() || receipt_->committed) return;
  receipt_ = ledger_->commit(receipt_->entry, result);
  set_interruption_note("");
  context.note(statement_of(*receipt_, charge_.spec));
}

void Payment::give_back() noexcept {
  // A reservation that was there before belongs to work that may have gone further, here or in another process.
  if (!ledger_ || !receipt_ || receipt_->committed || receipt_->replayed) return;
  try {
    ledger_->abandon(
        receipt_->entry,
        "the file could not be opened, or its header is not the declared one; no record was read");
  } catch (...) {  // then it stays spent, which is safe; the error under way says more
  }
}

DataError Payment::stays_open(const DataError& error) const {
  if (!active()) return error;
  const std::string hint = error.hint().empty() ? "" : error.hint() + "; ";
  return DataError(error.what(), hint + stays_reserved(*receipt_, charge_));
}

std::optional<LedgerReference> Payment::reference() const {
  if (!receipt_) return std::nullopt;
  return LedgerReference{receipt_->store, receipt_->dataset, receipt_->entry, receipt_->head};
}

void Payment::add_to(Json& json) const {
  if (receipt_) json["ledger"] = to_json(*receipt_);
}

}  // namespace sotto::cli
