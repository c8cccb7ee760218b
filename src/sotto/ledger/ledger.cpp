#include "sotto/ledger/ledger.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "sotto/core/digest.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/random_source.hpp"
#include "sotto/core/version.hpp"
#include "sotto/ledger/detail/schema.hpp"

namespace sotto::ledger {
namespace {

Dataset dataset_of(const Entry& e) {
  Dataset d = dataset_from_json(e.json.at("definition"));
  d.name = e.dataset;
  return d;
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
    r.people_left = shared.left();
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
