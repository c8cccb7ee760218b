#include "sotto/ledger/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sotto/accounting/account.hpp"
#include "sotto/core/digest.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/event_json.hpp"
#include "sotto/core/signature.hpp"
#include "sotto/ledger/decision.hpp"

namespace sotto::ledger {
namespace {

using Json = nlohmann::json;

constexpr const char* kForNobody = "it is charged for an entry that is not there";

class Replay {
 public:
  void apply(const Entry& e) {
    check_link(e);
    check_before(e);
    if (e.kind == "dataset") {
      add_dataset(e);
    } else if (e.kind == "reserve" || e.kind == "charge") {
      charge(e);
    } else if (e.kind == "commit" || e.kind == "abandon") {
      settle(e);
    } else if (e.kind == "resume") {
      resume(e);
    } else if (e.kind == "decision") {
      decide(e);
    } else if (e.kind == "refuse") {
      if (!e.json.contains("spends")) fail(e.seq, "it does not state the spends it left");
    } else if (e.kind != "store" || e.seq != 1) {
      fail(e.seq, fmt::format("it is of the unknown kind '{}'", e.kind));
    }
    if (!e.dataset.empty() && e.json.contains("spends") &&
        e.json.at("spends") != set_of(e).account.digest())
      fail(e.seq, "the spends it states are not what the events cost");
    if (e.seq == 1 && e.kind != "store") fail(1, "it does not open the ledger");
    before_ = e;
  }

  void compare(Database& db) const {
    const auto fail_table = [](const std::string& what) {
      throw VerificationFailed(what + " is not what the entries say", "do not rely on this ledger");
    };
    if (before_.json.contains("for")) fail(before_.seq, kForNobody);
    const auto names = db.query("SELECT name, seq FROM sotto_datasets");
    if (names.size() != sets_.size()) fail_table("the list of data sets");
    for (const Values& row : names) {
      const auto it = sets_.find(std::get<std::string>(row[0]));
      if (it == sets_.end() || row[1] != Value(it->second.seq)) fail_table("the list of data sets");
    }
    for (const auto& [seq, e] : open_) {
      if (e.json.contains("linked") && !open_.contains(e.json.at("linked").get<std::int64_t>()))
        fail(seq, "its part of the shared budget was settled without it");
    }
    std::size_t places = 0;
    for (const auto& [name, set] : sets_) places += set.account.places().size();
    const auto spends = db.query("SELECT dataset, part, seq, spend FROM sotto_spends");
    if (spends.size() != places) fail_table("the list of spends");
    for (const Values& row : spends) {
      const auto& name = std::get<std::string>(row[0]);
      const auto& part = std::get<std::string>(row[1]);
      const auto it = sets_.find(name);
      if (it == sets_.end() || !it->second.changed.contains(part) ||
          row[2] != Value(it->second.changed.at(part)) ||
          row[3] != Value(it->second.account.stored(part)))
        fail_table(fmt::format("the spend of '{}'", name));
    }
  }

  std::int64_t entries() const { return last_seq_; }
  std::int64_t datasets() const { return static_cast<std::int64_t>(sets_.size()); }
  const std::string& head() const { return last_hash_; }
  bool has(const std::string& pin) const { return pinned_ || pin.empty(); }
  void look_for(std::string pin) { pin_ = std::move(pin); }

 private:
  struct Set {
    Account account;
    Tally tally;
    std::int64_t seq;
    std::map<std::string, std::int64_t> changed;  // part → the entry that last changed its spend
  };

  [[noreturn]] static void fail(std::int64_t seq, const std::string& why) {
    throw VerificationFailed(fmt::format("entry {} of the ledger does not hold: {}", seq, why),
                             "restore the store from a copy whose head you pinned");
  }

  void check_link(const Entry& e) {
    if (e.seq != last_seq_ + 1) fail(e.seq, fmt::format("entry {} is missing", last_seq_ + 1));
    if (e.json.at("previous") != last_hash_) fail(e.seq, "it does not follow the one before");
    if (canonical(e.json) != e.body) fail(e.seq, "it is not in canonical form");
    const auto time = e.json.at("time").get<std::int64_t>();
    if (time < last_time_) fail(e.seq, "it is older than the one before");
    last_seq_ = e.seq, last_hash_ = e.hash, last_time_ = time;
    pinned_ = pinned_ || e.hash == pin_;
  }

  // A charge to a shared budget stands in front of the one that it is for.
  void check_before(const Entry& e) const {
    if (before_.json.contains("for") && e.json.value("linked", std::int64_t{0}) != before_.seq)
      fail(before_.seq, kForNobody);
  }

  void add_dataset(const Entry& e) {
    Dataset d = dataset_from_json(e.json.at("definition"));
    d.name = e.dataset;
    Tally tally(d);
    Set set{Account(std::move(d)), std::move(tally), e.seq, {}};
    set.account.check_plan();
    for (const std::string& part : set.account.places()) set.changed[part] = e.seq;
    if (!sets_.emplace(e.dataset, std::move(set)).second)
      fail(e.seq, "it creates a data set that is there");
  }

  Set& set_of(const Entry& e) {
    const auto it = sets_.find(e.dataset);
    if (it == sets_.end()) fail(e.seq, "its data set does not exist");
    return it->second;
  }

  void charge(const Entry& e) {
    Set& set = set_of(e);
    if (!keys_.emplace(e.dataset, e.json.at("key").get<std::string>()).second)
      fail(e.seq, "its key was used before");
    const std::string part = e.json.at("part").get<std::string>();
    std::string spend;
    try {
      spend = set.account.charge(event_of(e), part);
    } catch (const BudgetExceeded&) {
      fail(e.seq, "the budget did not cover it");
    }
    finish(set, e, part, spend);
    check_tally(set, e);
    if (!set.account.dataset().owner_key.empty()) charged_.emplace(e.seq, e);
    check_time(set, e);
    check_purpose(set, e);
    check_shared(set, e);
    if (e.kind == "reserve") open_.emplace(e.seq, e);
  }

  // A tally is entered with what the release costs whatever the records are.
  void check_tally(Set& set, const Entry& e) const {
    if (set.tally.active() != e.json.contains("this_data"))
      fail(e.seq, set.tally.active() ? "its tally was not charged" : "it is charged to no tally");
    if (!set.tally.active()) return;
    const Entered stated = entered_from_json(e.json.at("this_data"));
    const Spec spec{set.account.dataset().relation, {event_of(e)}};
    const double delta = stated.guarantee.delta;
    // Another version's bound may be lower, by what accountants leave between theirs.
    constexpr double kLeeway = 2e-3;
    if (!(stated.guarantee.epsilon >= guarantee(spec, delta).upper * (1 - kLeeway)))
      fail(e.seq, "its tally was charged less than its events cost");
    if (stated.announced > 0 && !least_statement(spec.event(), delta))
      fail(e.seq, "it announces a statement that its events cannot make");
    try {
      set.tally.enter(e.seq, stated);
    } catch (const BudgetExceeded&) {
      fail(e.seq, "its tally did not cover it");
    }
  }

  void check_time(const Set& set, const Entry& e) const {
    const Dataset& d = set.account.dataset();
    const auto time = e.json.at("time").get<std::int64_t>();
    if (d.closed || time < d.from || (d.until != 0 && time >= d.until))
      fail(e.seq, "its budget was closed or its period over");
  }

  // One in front of another speaks for that one's purpose.
  void check_purpose(const Set& set, const Entry& e) const {
    const std::vector<std::string>& listed = set.account.dataset().purposes;
    if (!listed.empty() && !e.json.contains("for") &&
        std::ranges::find(listed, e.json.value("purpose", "")) == listed.end())
      fail(e.seq, "it is for a purpose that its data set does not have");
  }

  // A shared budget is charged by the entry in front.
  void check_shared(const Set& set, const Entry& e) const {
    const std::string& people = set.account.dataset().people;
    if (people.empty()) return;
    const bool holds = e.json.value("linked", std::int64_t{0}) == before_.seq &&
                       before_.dataset == people && before_.kind == e.kind &&
                       before_.json.value("for", std::int64_t{0}) == e.seq &&
                       before_.json.at("events") == e.json.at("events");
    if (!holds) fail(e.seq, "the shared budget was not charged for it");
  }

  void decide(const Entry& e) {
    Set& set = set_of(e);
    const Dataset& before = set.account.dataset();
    Dataset after = dataset_from_json(e.json.at("definition"));
    after.name = e.dataset;
    const std::string what = e.json.at("decision").get<std::string>();
    if (before.owner_key.empty() || !verify_signature(before.owner_key, signed_text(e.json),
                                                      e.json.at("signature").get<std::string>()))
      fail(e.seq, "the owner of the data set did not sign it");
    if (!may_follow(before, what, after)) fail(e.seq, "it decides what it must not");
    if (what == "renew") {
      if (e.json.at("time").get<std::int64_t>() < before.until)
        fail(e.seq, "it renews a period that was not over");
      for (const auto& [seq, open] : open_)
        if (open.dataset == e.dataset) fail(e.seq, "it forgets an open reservation");
      std::erase_if(charged_, [&](const auto& c) { return c.second.dataset == e.dataset; });
    }
    Account account(after);
    try {
      for (const auto& [seq, charge] : charged_)
        if (charge.dataset == e.dataset) account.charge(event_of(charge), charge.json.at("part"));
    } catch (const BudgetExceeded&) {
      fail(e.seq, "the new budget does not cover what was released");
    }
    set.account = std::move(account);
    if (what == "renew") set.tally = Tally(after);
    set.tally.follow(after);
    set.seq = e.seq;
    for (auto& [part, seq] : set.changed) seq = e.seq;
  }

  void settle(const Entry& e) {
    Set& set = set_of(e);
    const auto it = open_.find(e.json.at("entry").get<std::int64_t>());
    if (it == open_.end() || it->second.dataset != e.dataset)
      fail(e.seq, "it settles what is no open reservation");
    if (e.kind == "abandon") {
      if (e.json.at("reason").get<std::string>().empty()) fail(e.seq, "it gives no reason");
      const std::string part = it->second.json.at("part").get<std::string>();
      finish(set, e, part, set.account.refund(event_of(it->second), part));
      charged_.erase(it->first);
      set.tally.take_out(it->first);
    }
    if (e.json.contains("this_data") &&
        (e.kind != "commit" ||
         !set.tally.lower(it->first, statement_from_json(e.json.at("this_data")),
                          event_of(it->second))))
      fail(e.seq, "what it says about this data does not count");
    if (it->second.json.contains("linked") &&
        (before_.kind != e.kind || before_.json.at("entry") != it->second.json.at("linked")))
      fail(e.seq, "its part of the shared budget was not settled with it");
    open_.erase(it);
  }

  void resume(const Entry& e) {
    const auto it = open_.find(e.json.at("resumes").get<std::int64_t>());
    if (it == open_.end() || it->second.dataset != e.dataset || !resumes_are_noted(it->second))
      fail(e.seq, "it resumes what is no open reservation of a run");
    set_of(e).tally.draw_again(it->first);
  }

  void finish(Set& set, const Entry& e, const std::string& part, const std::string& spend) {
    // Before version 2 of the store entries stated the spend of their own part only.
    const bool stated = e.json.contains("spends") || e.json.at("spend") == sha256(spend);
    if (!stated || e.json.at("part") != part)
      fail(e.seq, "the spend it states is not what its events cost");
    set.changed[part] = e.seq;
  }

  static Event event_of(const Entry& e) {
    std::vector<Event> events;
    for (const Json& j : e.json.at("events"))
      events.push_back(event_from_json(nlohmann::ordered_json(j)));
    return compose(std::move(events));
  }

  std::map<std::string, Set> sets_;
  std::set<std::pair<std::string, std::string>> keys_;
  std::map<std::int64_t, Entry> open_;
  std::map<std::int64_t, Entry>
      charged_;  // where an owner may decide: in this period, not abandoned
  Entry before_;
  std::int64_t last_seq_ = 0, last_time_ = 0;
  std::string last_hash_ = std::string(64, '0'), pin_;
  bool pinned_ = false;
};

}  // namespace

Verified verify(Ledger& ledger, const std::string& pin) {
  ledger.database().check_medium();
  Transaction t = Transaction::reading(ledger.database());
  Replay replay;
  replay.look_for(pin);
  constexpr std::int64_t kBatch = 1000;
  for (std::int64_t from = 0;; from += kBatch) {
    const auto rows = ledger.database().query(
        fmt::format("SELECT {} FROM sotto_entries WHERE seq > $1 AND seq <= $2 ORDER BY seq",
                    kEntryColumns),
        {from, from + kBatch});
    for (const Values& row : rows) {
      const Entry e = entry_from_row(row);
      try {
        replay.apply(e);
      } catch (const nlohmann::json::exception&) {
        throw VerificationFailed(fmt::format("entry {} of the ledger lacks a field", e.seq));
      } catch (const Error& error) {
        if (error.code() == ErrorCode::verification_failed) throw;
        throw VerificationFailed(
            fmt::format("entry {} of the ledger does not hold: {}", e.seq, error.what()));
      }
    }
    if (rows.size() < kBatch) break;
  }
  const auto count = ledger.database().query("SELECT count(*) FROM sotto_entries");
  if (count[0][0] != Value(replay.entries()) || replay.entries() == 0)
    throw VerificationFailed("the ledger has entries outside its chain");
  replay.compare(ledger.database());
  ledger.check_kept_head(ledger.head());
  if (!replay.has(pin))
    throw VerificationFailed(
        fmt::format("the pinned entry {} is not in the chain: the store was rolled back or "
                    "replaced",
                    pin),
        "restore the store that has it; what was charged after this copy was made is missing here");
  return {replay.entries(), replay.datasets(), replay.head(), ledger.store()};
}

}  // namespace sotto::ledger
