#include "sotto/ledger/ledger.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include "sotto/core/digest.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/event_json.hpp"
#include "sotto/core/random_source.hpp"
#include "sotto/core/version.hpp"
#include "sotto/ledger/detail/schema.hpp"
#include "sotto/ledger/period.hpp"

namespace sotto::ledger {
namespace {

using Json = nlohmann::json;

std::string select_entries(const std::string& rest) {
  return fmt::format("SELECT {} FROM sotto_entries {}", kEntryColumns, rest);
}

Dataset dataset_of(const Entry& e) {
  Dataset d = dataset_from_json(e.json.at("definition"));
  d.name = e.dataset;
  return d;
}

Json events_json(const Spec& spec) {
  Json events = Json::array();
  for (const Event& e : spec.events) events.push_back(Json(to_json(e)));
  return events;
}

using Digests = std::map<std::string, std::string>;  // of the spend of each place

Digests digests_of(const std::map<std::string, std::string>& spends) {
  Digests all;
  for (const auto& [place, spend] : spends) all.emplace(place, sha256(spend));
  return all;
}

// Entries of stores before version 2 state the spend of one place each: the newest about a place
// counts.
Digests spends_before_version_2(const std::vector<Entry>& entries) {
  Digests all;
  for (const Entry& e : entries) {
    if (e.kind == "dataset") {
      const Account fresh(dataset_of(e));
      for (const std::string& place : fresh.places())
        all.insert_or_assign(place, sha256(fresh.stored(place)));
    } else if (e.json.contains("spend")) {
      all.insert_or_assign(e.json.at("part").get<std::string>(),
                           e.json.at("spend").get<std::string>());
    }
  }
  return all;
}

std::vector<Event> released_events(const Entry& release) {
  std::vector<Event> events;
  for (const Json& e : release.json.at("events"))
    events.push_back(event_from_json(nlohmann::ordered_json(e)));
  return events;
}

// A budget is spent while it is open, in its period.
void check_time(const Dataset& d, std::int64_t now) {
  if (d.closed)
    throw BudgetExceeded(fmt::format("the data set '{}' is closed", d.name),
                         "nothing was charged and no data was read; ask its owner");
  if (d.from != 0 && now < d.from)
    throw BudgetExceeded(fmt::format("the period of '{}' begins on {}", d.name, iso_day(d.from)),
                         "nothing was charged and no data was read; wait for it");
  if (d.until != 0 && now >= d.until)
    throw BudgetExceeded(
        fmt::format("the period of '{}' ended on {}", d.name, iso_day(d.until)),
        "nothing was charged and no data was read; its owner may decide on another: sotto ledger "
        "renew");
}

// Twelve places are what caps and pure charges are counted in; the rest of a difference is noise of
// the subtraction.
double difference(double after, double before) {
  return std::max(0.0, std::round((after - before) * 1e12) / 1e12);
}

double left_of(const Account& account) {
  const double rho = account.dataset().rho;
  return rho > 0 ? std::max(0.0, rho - account.rho()) : account.epsilon_left();
}

void check_charge(const Charge& c, const Dataset& d) {
  check_text("key", c.key);
  if (!c.what.empty()) check_text("description of the release", c.what, 500);
  if (!c.by.empty()) check_text("name of who asks", c.by);
  if (!c.run.empty()) check_text("name of the run", c.run);
  if (c.spec.events.empty())
    throw InvalidArgument("there is nothing to charge: the specification has no events");
  if (c.spec.relation != d.relation)
    throw InvalidArgument(
        fmt::format("the release is about {}, the data set '{}' is accounted under {}",
                    name(c.spec.relation), d.name, name(d.relation)),
        "guarantees under different relations cannot be added; use the data set's relation");
  if (!c.unit.empty() && c.unit != d.unit)
    throw InvalidArgument(
        fmt::format("the release protects one {}, the data set '{}' one {}", c.unit, d.name,
                    d.unit),
        d.unit == "user" ? "use a schema with a column of role \"user\"; statistics: sotto release "
                           "summary"
                         : "");
  const bool listed = std::ranges::find(d.purposes, c.purpose) != d.purposes.end();
  if (!d.purposes.empty() && !listed)
    throw InvalidArgument(
        c.purpose.empty()
            ? fmt::format("the data set '{}' is charged for a purpose only", d.name)
            : fmt::format("'{}' is not a purpose of the data set '{}'", c.purpose, d.name),
        fmt::format("`purpose`: {}", fmt::join(d.purposes, ", ")));
  if (d.purposes.empty() && !c.purpose.empty()) check_text("purpose", c.purpose);
}

}  // namespace

std::int64_t system_clock() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

Ledger::Ledger(std::unique_ptr<Database> database, OpenMode mode, Clock clock)
    : db_(std::move(database)), clock_(std::move(clock)) {
  if (mode == OpenMode::read) {
    require_current(*db_);
    return;
  }
  if (schema_version(*db_) == static_cast<std::int64_t>(migrations().size())) return;
  Transaction t = Transaction::writing(*db_);
  if (mode != OpenMode::create && schema_version(*db_) == 0) require_current(*db_);
  migrate(*db_);
  if (db_->query("SELECT seq FROM sotto_entries WHERE seq = 1").empty()) {
    std::string id;
    std::array<std::byte, 16> bytes{};
    system_random(bytes);
    for (std::byte b : bytes) id += fmt::format("{:02x}", std::to_integer<int>(b));
    append({{"kind", "store"}, {"store", id}, {"format", 1}}, "");
  }
  finish(t, head());
}

Entry Ledger::head() {
  const auto rows = db_->query(select_entries("ORDER BY seq DESC LIMIT 1"));
  if (rows.empty()) throw StorageError("the ledger has no entries", "restore it from a copy");
  return entry_from_row(rows[0]);
}

void Ledger::check_kept_head(const Entry& head) {
  const auto kept = db_->kept_head();
  if (!kept) return;
  if (kept->seq <= head.seq && (kept->seq == head.seq ? head : entry(kept->seq)).hash == kept->hash)
    return;
  throw VerificationFailed(
      fmt::format("the ledger lacks entry {} ({}), which was committed: it was rolled back, "
                  "replaced or damaged",
                  kept->seq, kept->hash),
      fmt::format("restore the store that has it; if an old copy was put back on purpose, remove "
                  "'{}'",
                  db_->witness()));
}

// Durable first, then witnessed, and only then does the caller hear of it.
void Ledger::finish(Transaction& transaction, const Entry& newest) {
  transaction.commit();
  db_->keep_head({newest.seq, newest.hash});
}

std::string Ledger::store() {
  if (store_.empty()) store_ = entry(1).json.at("store").get<std::string>();
  return store_;
}

Entry Ledger::entry(std::int64_t seq) {
  const auto rows = db_->query(select_entries("WHERE seq = $1"), {seq});
  if (rows.empty()) throw InvalidArgument(fmt::format("the ledger has no entry {}", seq));
  return entry_from_row(rows[0]);
}

// Every change passes here: the next number, the hash of the line before, a time that never runs
// backwards.
Entry Ledger::append(nlohmann::json body, const std::string& dataset,
                     const std::optional<PlaceSpend>& left) {
  const auto rows = db_->query(select_entries("ORDER BY seq DESC LIMIT 1"));
  // A charge says at which moment it looked whether its period is over.
  std::int64_t seq = 1, time = body.contains("time") ? body["time"].get<std::int64_t>() : clock_();
  body["previous"] = std::string(64, '0');
  if (!rows.empty()) {
    const Entry last = entry_from_row(rows[0]);
    check_kept_head(last);
    seq = last.seq + 1;
    time = std::max(time, last.json.at("time").get<std::int64_t>());
    body["previous"] = last.hash;
  }
  body["seq"] = seq, body["time"] = time, body["dataset"] = dataset;
  Entry e{seq, body.at("kind").get<std::string>(), dataset, canonical(body), {}, body};
  e.hash = sha256(e.body);
  const auto key = body.contains("key") ? Value(body["key"].get<std::string>()) : Value{};
  const auto refers = body.contains("entry") ? Value(body["entry"].get<std::int64_t>()) : Value{};
  db_->append({seq, e.kind, dataset, key, refers, e.body, e.hash}, left);
  return e;
}

// Later than all that is written, also when another machine's clock is ahead.
std::int64_t Ledger::now() {
  return std::max(clock_(), head().json.at("time").get<std::int64_t>());
}

// The newest entry about a data set says what all of it has spent: a row that was changed, or put
// back from earlier, does not match.
void Ledger::check_spends(const std::string& dataset,
                          const std::map<std::string, std::string>& spends) {
  const auto rows =
      db_->query(select_entries("WHERE dataset = $1 ORDER BY seq DESC LIMIT 1"), {dataset});
  bool holds = false;
  if (!rows.empty()) {
    const Entry newest = entry_from_row(rows[0]);
    holds = newest.json.contains("spends")
                ? newest.json.at("spends") == digest_of_spends(spends)
                : spends_before_version_2(entries(dataset)) == digests_of(spends);
  }
  if (!holds)
    throw VerificationFailed(
        fmt::format("the spend of '{}' is not the one that its newest entry left", dataset),
        "nothing was charged; sotto ledger verify checks the whole store");
}

// No decision changes a tally: one that was made without regard to it has lost it.
void Ledger::check_tally_stays(const Entry& definition) {
  if (definition.kind != "decision") return;
  for (const Values& row :
       db_->query(select_entries("WHERE dataset = $1 AND kind = 'dataset'"), {definition.dataset}))
    if (dataset_of(entry_from_row(row)).this_data_epsilon !=
        dataset_of(definition).this_data_epsilon)
      throw VerificationFailed(
          fmt::format("entry {} of the ledger does not hold: it changes the tally of '{}'",
                      definition.seq, definition.dataset),
          "nothing was charged; sotto ledger verify checks the whole store");
}

// The spend alone does not say of how many releases it is the sum.
void Ledger::recall_newest(Account& account) {
  account.forget();
  const auto rows = db_->query(select_entries("WHERE dataset = $1 AND kind IN ('reserve', "
                                              "'charge') ORDER BY seq DESC LIMIT 1"),
                               {account.dataset().name});
  if (rows.empty()) return;
  const Entry newest = entry_from_row(rows[0]);
  // What somebody wrote last would keep everybody waiting, for as long as its many events take.
  constexpr std::size_t kLongest = 1 << 16;
  if (newest.body.size() > kLongest) return;
  bool all = false;
  try {
    all = account.remember(compose(released_events(newest)),
                           newest.json.at("part").get<std::string>());
  } catch (const Error& e) {
    // Whoever may charge can write a release that nobody reads. Without the newest one nothing is
    // cheaper, and verify names it.
    if (e.code() == ErrorCode::internal) throw;
  }
  if (!all || find(newest).abandoned) account.forget();
}

// As it is defined; what it has spent is not read.
Account& Ledger::defined(const std::string& dataset) {
  auto known = known_.find(dataset);
  const auto rows = db_->query("SELECT seq FROM sotto_datasets WHERE name = $1", {dataset});
  if (rows.empty())
    throw InvalidArgument(fmt::format("the ledger has no data set '{}'", dataset),
                          "sotto ledger show lists them, sotto ledger create adds one");
  const std::int64_t seq = std::get<std::int64_t>(rows[0][0]);
  if (known == known_.end() || known->second.seq != seq) {
    const Entry e = entry(seq);
    if ((e.kind != "dataset" && e.kind != "decision") || e.dataset != dataset)
      throw VerificationFailed(fmt::format("entry {} does not define '{}'", e.seq, dataset));
    check_tally_stays(e);
    known = known_.insert_or_assign(dataset, Known{seq, Account(dataset_of(e))}).first;
  }
  return known->second.account;
}

std::map<std::string, std::string> Ledger::spends(const std::string& dataset) {
  std::map<std::string, std::string> spends;
  for (const Values& row :
       db_->query("SELECT part, spend FROM sotto_spends WHERE dataset = $1", {dataset}))
    spends.emplace(std::get<std::string>(row[0]), std::get<std::string>(row[1]));
  check_spends(dataset, spends);
  return spends;
}

Account& Ledger::account(const std::string& dataset) {
  Account& account = defined(dataset);
  for (const auto& [part, spend] : spends(dataset)) account.restore(part, spend);
  recall_newest(account);
  return account;
}

Receipt Ledger::receipt(const Account& a, std::int64_t seq, const Entry& head) {
  Receipt r;
  r.entry = seq, r.head = head.hash, r.store = store(), r.dataset = a.dataset().name;
  r.has_epsilon = a.has_epsilon();
  r.delta = a.dataset().delta, r.epsilon_cap = a.dataset().epsilon, r.rho_cap = a.dataset().rho;
  if (r.has_epsilon) r.epsilon_spent = a.epsilon();
  if (r.epsilon_cap > 0) r.epsilon_left = a.epsilon_left();
  if (r.rho_cap > 0) r.rho_spent = a.rho();
  if (a.dataset().this_data_epsilon > 0) r.this_data = tally(a.dataset());
  if (r.people = a.dataset().people; !r.people.empty()) {
    const Account& shared = account(r.people);
    r.people_left = left_of(shared);
    r.people_cap = shared.dataset().rho > 0 ? shared.dataset().rho : shared.dataset().epsilon;
  }
  return r;
}

Receipt Ledger::create(const Dataset& dataset) {
  Account account(dataset);
  account.check_plan();
  Transaction t = Transaction::writing(*db_);
  if (!db_->query("SELECT seq FROM sotto_datasets WHERE name = $1", {dataset.name}).empty())
    throw InvalidArgument(fmt::format("the ledger already has a data set '{}'", dataset.name),
                          "choose another name; its owner may renew or raise the budget it has");
  if (!dataset.people.empty()) {
    const Dataset& shared = this->account(dataset.people).dataset();
    if (!shared.people.empty() || !shared.parts.empty() || !shared.plan.empty() ||
        shared.this_data_epsilon != 0 || shared.relation != dataset.relation ||
        shared.unit != dataset.unit)
      throw InvalidArgument(
          fmt::format("'{}' cannot share the budget of '{}'", dataset.name, shared.name),
          "the shared one has the same relation and unit, no parts, no plan, no tally, and shares "
          "no other");
  }
  const Entry e = append({{"kind", "dataset"},
                          {"definition", to_json(dataset)},
                          {"spends", account.digest()},
                          {"version", kVersion}},
                         dataset.name);
  db_->change_one("INSERT INTO sotto_datasets (name, seq) VALUES ($1, $2)", {dataset.name, e.seq});
  for (const std::string& part : account.places()) {
    db_->change_one("INSERT INTO sotto_spends (dataset, part, seq, spend) VALUES ($1, $2, $3, $4)",
                    {dataset.name, part, e.seq, account.stored(part)});
  }
  finish(t, e);
  return receipt(account, e.seq, e);
}

Ledger::Found Ledger::find(Entry reservation) {
  Found f{std::move(reservation), false, false, {}};
  const auto rows = db_->query(select_entries("WHERE refers = $1"), {f.entry.seq});
  f.committed = f.entry.kind == "charge";
  if (rows.empty()) return f;
  const Entry settled = entry_from_row(rows[0]);
  f.committed = settled.kind == "commit";
  f.result = settled.json.value("result", "");
  f.abandoned = settled.kind == "abandon";
  return f;
}

Receipt Ledger::append_charge(const Charge& c, const std::string& kind, bool dry) {
  Transaction t = dry ? Transaction::reading(*db_) : Transaction::writing(*db_);
  Account& account = this->account(c.dataset);
  check_charge(c, account.dataset());
  account.check_place(c.part);
  const Json events = events_json(c.spec);
  const auto rows =
      db_->query(select_entries("WHERE dataset = $1 AND release_key = $2"), {c.dataset, c.key});
  if (!rows.empty()) {
    const Found f = find(entry_from_row(rows[0]));
    if (f.entry.json.at("events") != events || f.entry.json.value("part", "") != c.part)
      throw InvalidArgument(
          fmt::format("the key '{}' was used in entry {} for another release", c.key, f.entry.seq),
          "nothing was charged; each release needs a key of its own");
    if (f.abandoned)
      throw InvalidArgument(
          fmt::format("the key '{}' belongs to entry {}, which was abandoned", c.key, f.entry.seq),
          "nothing was charged; use another key");
    if (f.entry.json.value("run", "") != c.run)
      throw InvalidArgument(
          fmt::format("the key '{}' belongs to entry {}, which another run reserved", c.key,
                      f.entry.seq),
          "nothing was charged; go on with that run (its checkpoint), or use another key");
    Receipt r = receipt(account, f.entry.seq, head());
    r.replayed = true, r.committed = f.committed, r.result = f.result;
    if (kind == "charge" && !f.committed && !dry) {
      const Entry e = append_settlement(f.entry, {{"kind", "commit"}});
      r.head = e.hash, r.committed = true;
      finish(t, e);
    } else if (kind == "reserve" && resumes_are_noted(f.entry) && !f.committed && !dry) {
      // The run was stopped, or killed, and goes on, or draws what it will say anew. `entry` is for
      // what settles a reservation, once.
      const Entry e = append({{"kind", "resume"},
                              {"resumes", f.entry.seq},
                              {"by", c.by},
                              {"spends", account.digest()}},
                             c.dataset);
      r.head = e.hash;
      if (r.this_data) r.this_data = tally(account.dataset());
      finish(t, e);
    }
    return r;
  }
  if (dry) {
    const std::int64_t now = this->now();
    check_time(account.dataset(), now);
    const double before = account.has_epsilon() ? account.epsilon() : 0;
    account.charge(c.spec.event(), c.part);
    const Entry newest = head();
    check_kept_head(newest);
    Receipt r = receipt(account, 0, newest);
    if (r.this_data) r.this_data->enter(0, r.this_data->worst_of(c.spec, c.announced));
    if (!r.people.empty()) {
      Account& shared = this->account(r.people);
      check_time(shared.dataset(), now);
      shared.charge(c.spec.event(), "");
      r.people_left = left_of(shared);
    }
    r.epsilon_added = difference(r.epsilon_spent, before);
    return r;
  }
  try {
    return append_new_charge(t, c, kind);
  } catch (const BudgetExceeded& refused) {
    append_refusal(t, c, refused.what());
    throw;
  }
}

// Everything is checked before the first entry is written. A shared budget is charged by an entry
// of its own, in front of this one.
Receipt Ledger::append_new_charge(Transaction& t, const Charge& c, const std::string& kind) {
  Account& account = this->account(c.dataset);
  const std::int64_t now = this->now();
  check_time(account.dataset(), now);
  const double before = account.has_epsilon() ? account.epsilon() : 0;
  const std::string spend = account.charge(c.spec.event(), c.part);
  Json body = {{"kind", kind},         {"key", c.key},       {"part", c.part},
               {"purpose", c.purpose}, {"by", c.by},         {"events", events_json(c.spec)},
               {"time", now},          {"version", kVersion}};
  if (!c.what.empty()) body["what"] = c.what;
  if (!c.run.empty()) body["run"] = c.run;
  if (account.dataset().this_data_epsilon > 0) {
    Tally tally = this->tally(account.dataset());
    const Entered worst = tally.worst_of(c.spec, c.announced);
    tally.enter(0, worst);
    body["this_data"] = to_json(worst);
  }
  if (const std::string people = account.dataset().people; !people.empty()) {
    Account& shared = this->account(people);
    check_time(shared.dataset(), now);
    const std::string shared_spend = shared.charge(c.spec.event(), "");
    Json first = body;
    first["key"] = fmt::format("for {}: {}", c.dataset, c.key);
    first["for"] = head().seq + 2;
    first["spends"] = shared.digest();
    body["linked"] = append(std::move(first), people, PlaceSpend{"", shared_spend}).seq;
  }
  body["spends"] = account.digest();
  const Entry e = append(std::move(body), c.dataset, PlaceSpend{c.part, spend});
  Receipt r = receipt(account, e.seq, e);
  r.epsilon_added = difference(r.epsilon_spent, before);
  r.committed = kind == "charge";
  finish(t, e);
  return r;
}

// What was refused is part of the history. It depends on public facts only, uses up no key and
// changes no spend.
void Ledger::append_refusal(Transaction& t, const Charge& c, const std::string& reason) {
  Json body = {{"kind", "refuse"},
               {"asked", c.key},
               {"part", c.part},
               {"purpose", c.purpose},
               {"by", c.by},
               {"events", events_json(c.spec)},
               {"reason", reason},
               {"spends", account(c.dataset).digest()},  // as stored: the charge did not happen
               {"version", kVersion}};
  if (!c.what.empty()) body["what"] = c.what;
  finish(t, append(std::move(body), c.dataset));
}

Receipt Ledger::reserve(const Charge& c) { return append_charge(c, "reserve", false); }
Receipt Ledger::charge(const Charge& c) { return append_charge(c, "charge", false); }
Receipt Ledger::quote(const Charge& c) { return append_charge(c, "charge", true); }

// Commits or abandons one reservation, and first the one that it has on a shared budget.
Entry Ledger::append_settlement(const Entry& reservation, nlohmann::json body) {
  if (reservation.json.contains("linked"))
    append_settlement(entry(reservation.json.at("linked").get<std::int64_t>()), body);
  Account& account = this->account(reservation.dataset);
  body["entry"] = reservation.seq;
  std::optional<PlaceSpend> left;
  if (body.at("kind") == "abandon") {
    const std::string part = reservation.json.at("part").get<std::string>();
    left = PlaceSpend{part, account.refund(compose(released_events(reservation)), part)};
    body["part"] = part;
  }
  body["spends"] = account.digest();
  return append(std::move(body), reservation.dataset, left);
}

Receipt Ledger::settle(std::int64_t seq, nlohmann::json body,
                       const std::optional<Statement>& said) {
  Transaction t = Transaction::writing(*db_);
  const Found f = find(entry(seq));
  if (f.entry.kind != "reserve" || f.committed || f.abandoned) {
    const bool release = f.entry.kind == "reserve" || f.entry.kind == "charge";
    throw InvalidArgument(fmt::format("entry {} is not an open reservation: it {}", seq,
                                      !release      ? "is no release"
                                      : f.abandoned ? "was abandoned"
                                                    : "is committed"));
  }
  if (f.entry.json.contains("for"))
    throw InvalidArgument(fmt::format("entry {} is the shared part of entry {}", seq,
                                      f.entry.json.at("for").get<std::int64_t>()),
                          "settle that one; this one follows");
  const bool refund = body.at("kind") == "abandon";
  if (const Dataset& d = account(f.entry.dataset).dataset();
      said && d.this_data_epsilon > 0 &&
      tally(d).lower(seq, *said, compose(released_events(f.entry))))
    body["this_data"] = to_json(*said);
  const Entry e = append_settlement(f.entry, std::move(body));
  Receipt r = receipt(this->account(f.entry.dataset), seq, e);
  r.committed = !refund;
  finish(t, e);
  return r;
}

Receipt Ledger::commit(std::int64_t seq, const std::string& result,
                       const std::optional<Statement>& said) {
  Json body = {{"kind", "commit"}};
  if (!result.empty()) body["result"] = result;
  return settle(seq, std::move(body), said);
}

Receipt Ledger::abandon(std::int64_t seq, const std::string& reason, const std::string& by) {
  check_text("reason", reason, 2000);
  if (!by.empty()) check_text("name of who asks", by);
  return settle(seq, {{"kind", "abandon"}, {"reason", reason}, {"by", by}});
}

std::vector<Account> Ledger::accounts(std::map<std::string, std::string>* unreadable) {
  Transaction t = Transaction::reading(*db_);
  check_kept_head(head());
  std::vector<Account> all;
  for (const Values& row : db_->query("SELECT name FROM sotto_datasets ORDER BY seq")) {
    const std::string name = std::get<std::string>(row[0]);
    try {
      all.push_back(account(name));
    } catch (const Error& e) {
      if (unreadable == nullptr || e.code() == ErrorCode::internal ||
          e.code() == ErrorCode::storage)
        throw;
      unreadable->emplace(name, e.what());
    }
  }
  return all;
}

Dataset Ledger::dataset(const std::string& name) {
  Transaction t = Transaction::reading(*db_);
  return defined(name).dataset();
}

Tally Ledger::tally(const Dataset& dataset) {
  std::vector<Entry> all;
  for (const Values& row : db_->query(
           select_entries("WHERE dataset = $1 AND kind <> 'refuse' ORDER BY seq"), {dataset.name}))
    all.push_back(entry_from_row(row));
  return tally_of(dataset, all);
}

std::vector<Entry> Ledger::entries(const std::string& dataset) {
  const auto rows = dataset.empty()
                        ? db_->query(select_entries("ORDER BY seq"))
                        : db_->query(select_entries("WHERE dataset = $1 ORDER BY seq"), {dataset});
  std::vector<Entry> all;
  all.reserve(rows.size());
  for (const Values& row : rows) all.push_back(entry_from_row(row));
  return all;
}

}  // namespace sotto::ledger
