#include "paid/charge.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <regex>

#include "options/reader_options.hpp"
#include "shell/interruption.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/core/random_source.hpp"
#include "sotto/core/rounded_text.hpp"
#include "sotto/core/text.hpp"
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

std::string data_path(const Arguments& arguments) {
  const std::string named = maybe(arguments, "data");
  return named.empty() && !arguments.positionals().empty() ? arguments.positionals().front()
                                                           : named;
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
      {.name = "by",
       .type = Type::text,
       .value = "NAME",
       .help = "who asks, kept in the ledger; default: the user who runs it",
       .group = group},
      {.name = "key",
       .type = Type::text,
       .value = "K",
       .help = "names this release: a retry with the same key is not charged again",
       .group = group}};
  options.push_back(fingerprint_option());
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

Json tally_json(const ledger::Tally& tally) {
  return {{"epsilon_spent", tally.epsilon()}, {"epsilon_left", tally.left()},
          {"epsilon_cap", tally.cap()},       {"delta", tally.delta()},
          {"confidence", tally.confidence()}, {"failure_probability", tally.failure()}};
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
  json["epsilon_added"] = r.has_epsilon ? Json(r.epsilon_added) : Json(nullptr);
  if (r.this_data) json["this_data"] = tally_json(*r.this_data);
  if (!r.people.empty()) json["people"] = {{"dataset", r.people}, {"left", r.people_left}};
  return json;
}

std::string who_asks(const Arguments& arguments) {
  if (std::string given = maybe(arguments, "by"); !given.empty()) return given;
  const uid_t user = ::geteuid();
  std::array<char, 4096> buffer{};
  passwd entry{}, *found = nullptr;
  if (::getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr &&
      *found->pw_name != '\0')
    return visible(found->pw_name);
  return fmt::format("user {}", user);
}

std::optional<double> own_epsilon(const ledger::Receipt& r, const Spec& spec) {
  if (!r.has_epsilon) return std::nullopt;
  try {
    return guarantee(spec, r.delta).upper;
  } catch (const AccountingError&) {
    return std::nullopt;  // no number of its own; what is left says enough
  }
}

std::string statement_of(const ledger::Receipt& r, const Spec& spec, const std::string& verb,
                         std::optional<double> largest) {
  std::string text = fmt::format("{} to {}: ", verb, r.dataset);
  if (const std::optional<double> own = own_epsilon(r, spec))
    text += fmt::format("epsilon = {} on its own{}, adds {} to the total; ", round_up(*own, 4),
                        r.delta > 0 ? fmt::format(" at delta = {}", r.delta) : std::string(),
                        round_up(r.epsilon_added, 4));
  text += r.rho_cap == 0
              ? fmt::format("{} of {} left", round_down(r.epsilon_left, 4), r.epsilon_cap)
              : fmt::format("rho {} of {} left",
                            round_down(std::max(0.0, r.rho_cap - r.rho_spent), 4), r.rho_cap);
  if (r.this_data)
    text += fmt::format(", and {} of {} in the tally of this data",
                        round_down(r.this_data->left(), 4), r.this_data->cap());
  if (!r.people.empty())
    text += fmt::format(", and {} of {} that {} shares", round_down(r.people_left, 4), r.people_cap,
                        r.people);
  // Of the budget alone; what the tally leaves stands above.
  if (r.rho_cap > 0 || r.this_data) return text;
  return text + (largest && *largest > 0
                     ? fmt::format("; the largest single run like this that still fits: epsilon = "
                                   "{}",
                                   round_down(*largest, 3))
                 : r.epsilon_left > 0 && (r.people.empty() || r.people_left > 0)
                     ? std::string("; nothing more with a failure probability of its own fits")
                     : std::string("; nothing like this fits any more"));
}

Payment::Payment(const Arguments& arguments, std::optional<Spec> spec, std::string unit,
                 const std::string& what)
    : path_(data_path(arguments)),
      reading_(csv_options(arguments)),
      data_(arguments, path_),
      location_(store_location(arguments, "ledger")) {
  const std::string dataset = maybe(arguments, "dataset");
  if (!location_) {
    for (const char* option : {"part", "purpose", "by", "key"}) {
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
             .what = visible(what),
             .purpose = maybe(arguments, "purpose"),
             .by = who_asks(arguments),
             .unit = std::move(unit)};
  if (charge_.what.size() > 400) charge_.what = arguments.title();
  if (charge_.key.empty()) charge_.key = fresh_key(arguments.title());
}

namespace {

std::string stays_reserved(const ledger::Receipt& receipt, const ledger::Charge& charge) {
  return fmt::format(
      "entry {} of the ledger stays reserved: run again with --key {}{}, it is not charged twice",
      receipt.entry, charge.key, charge.run.empty() ? "" : " --resume");
}

}  // namespace

void Payment::check_binding(ledger::Ledger& ledger) {
  const ledger::Dataset set = ledger.dataset(charge_.dataset);
  declared_ = set.fingerprint;
  if (path_.empty() && !(set.fingerprint.empty() && set.columns.empty()))
    throw InvalidArgument(
        fmt::format("the data set '{}' is bound to its file, which is not read here",
                    charge_.dataset),
        "nothing was charged; use a command that reads the file, or a data set that is not bound");
  if (!declared_.empty() && !data_.active())
    throw InvalidArgument(
        fmt::format("the data set '{}' is bound to its data by a fingerprint", charge_.dataset),
        "add --fingerprint-key KEY, the key it was made with");
  if (set.columns.empty()) return;
  if (!reading_.header || path_ == "-")
    throw InvalidArgument(
        fmt::format("the data set '{}' is bound to its columns, which need a header row",
                    charge_.dataset),
        "give a file with one");
  std::vector<std::string> found = CsvReader(path_, reading_).columns(), declared = set.columns;
  std::ranges::sort(found);
  std::ranges::sort(declared);
  if (found != declared)
    throw InvalidArgument(
        fmt::format("'{}' does not have the columns of the data set '{}'", path_, charge_.dataset),
        fmt::format("nothing was charged; it was declared with: {}", fmt::join(set.columns, ", ")));
}

bool Payment::would_fit() const {
  if (!active()) return true;
  try {
    ledger::Ledger::open(*location_, ledger::OpenMode::read).quote(charge_);
    return true;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::interrupted) throw;
    return false;
  }
}

void Payment::quote(Context& context, Json& json) {
  if (!active()) return;
  ledger::Ledger ledger = ledger::Ledger::open(*location_, ledger::OpenMode::read);
  try {
    const ledger::Receipt r = ledger.quote(charge_);
    json["ledger"] = Json{{"fits", true}};
    json["ledger"].update(to_json(r));
    json["ledger"].erase("entry");
    json["ledger"]["epsilon_own"] = nullptr;
    if (const auto own = own_epsilon(r, charge_.spec)) json["ledger"]["epsilon_own"] = *own;
    if (!context.quiet)
      context.note(
          statement_of(r, charge_.spec, "would fit: would charge", ledger.largest_like(charge_)));
  } catch (const BudgetExceeded&) {
    json["ledger"] = Json{{"fits", false}, {"dataset", charge_.dataset}};
    throw;
  }
}

void Payment::reserve(Context& context, const std::string& result) {
  if (!active()) return;
  ledger_.emplace(ledger::Ledger::open(*location_, ledger::OpenMode::write));
  check_binding(*ledger_);
  receipt_ = ledger_->reserve(charge_);
  if (receipt_->committed) {
    // Paid for, to be written out again: the state of the run stands after the digest of its
    // artifact.
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

void Payment::commit(Context& context, const std::string& result,
                     const std::optional<ledger::Statement>& said) {
  if (!active() || receipt_->committed) return;
  if (!declared_.empty() && !data_.matches(declared_))
    throw stays_open(DataError(
        fmt::format("the data is not what '{}' was declared to be", charge_.dataset),
        "give the file whose fingerprint the data set has, and the key it was made with"));
  const double added = receipt_->epsilon_added;
  receipt_ = ledger_->commit(receipt_->entry, result, said);
  receipt_->epsilon_added = added;
  set_interruption_note("");
  if (!context.quiet)
    context.note(statement_of(*receipt_, charge_.spec, "charged", ledger_->largest_like(charge_)));
}

void Payment::give_back() noexcept {
  // A reservation that was there before belongs to work that may have gone further, here or in
  // another process.
  if (!ledger_ || !receipt_ || receipt_->committed || receipt_->replayed) return;
  try {
    ledger_->abandon(
        receipt_->entry,
        "the file could not be opened, or its header is not the declared one; no record was read");
  } catch (...) {  // then it stays spent, which is safe; the error under way says more
  }
}

DataError Payment::stays_open(const DataError& error) const {
  return DataError(error.what(), with_reservation(error.hint()));
}

std::string Payment::with_reservation(const std::string& hint) const {
  if (!active() || !receipt_) return hint;
  return (hint.empty() ? "" : hint + "; ") + stays_reserved(*receipt_, charge_);
}

std::optional<LedgerReference> Payment::reference() const {
  if (!receipt_) return std::nullopt;
  return LedgerReference{receipt_->store, receipt_->dataset, receipt_->entry, receipt_->head};
}

void Payment::add_to(Json& json) const {
  if (!receipt_) return;
  json["ledger"] = to_json(*receipt_);
  json["ledger"]["epsilon_own"] = nullptr;
  if (const auto own = own_epsilon(*receipt_, charge_.spec)) json["ledger"]["epsilon_own"] = *own;
}

}  // namespace sotto::cli
