// The budget ledger: what each data set may lose, what was spent of it, by whom and for what.
// Nothing is ever deleted.
//
// What       create(data set), then for each release reserve → commit (or charge: both at once),
//            before anything leaves the process. abandon, with a reason, gives back a reservation
//            whose result never left. decide renews, raises or closes. show, export and verify
//            read.
// Guarantee  A release that waited for commit() is paid for; a reservation whose process died stays
//            spent. Check and reserve are one transaction: of processes racing for the last of a
//            budget exactly those win whose releases it covers. Retrying with the same key and the
//            same events charges once.
// Method     Entries in a hash chain (entry.hpp); the spend of each data set and part is stored
//            beside them, and every entry about a data set states the digest of all its spends. So
//            a charge reads the newest entry instead of the whole history, and a spend that was
//            changed or put back from earlier is noticed.
// Numerics   Sums are exact (accounting/adaptive_budget.hpp); what is shown is rounded up, what is
//            left rounded down.
// Reference  docs/ledger.md, docs/adr/0008-ledger.md.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sotto/core/spec.hpp"
#include "sotto/ledger/account.hpp"
#include "sotto/ledger/database.hpp"
#include "sotto/ledger/decision.hpp"
#include "sotto/ledger/entry.hpp"
#include "sotto/ledger/tally.hpp"

namespace sotto::ledger {

// One release that is to be paid for.
struct Charge {
  std::string dataset;
  Spec spec;
  std::string key;        // of the release: the same key never pays twice
  std::string part = {};  // of the data set; empty: all of it
  std::string what = {};  // in words: "mean of age"
  std::string purpose = {};
  std::string by = {};    // who asks
  std::string unit = {};  // when given, it must be the data set's
  // Work that goes on after a crash has a name: only the same run takes its reservation up again.
  // Empty for work that starts over.
  std::string run = {};
  Announcement announced = {};  // of the statement about this data that will come
};

struct Receipt {
  std::int64_t entry = 0;  // of the reservation or charge
  std::string head;        // the newest hash after it
  std::string store;       // which ledger
  std::string dataset;
  bool replayed = false;  // the key was known: nothing new was charged
  bool committed = false;
  std::string result = {};  // what commit() was given, when committed
  bool has_epsilon = true;  // false: a cap in ρ without δ
  double epsilon_spent = 0, epsilon_left = 0, epsilon_cap = 0, delta = 0;
  double epsilon_added = 0;  // by this charge, to what was spent
  std::string people = {};   // the data set whose budget is shared, if any
  double people_left = 0, people_cap = 0;
  double rho_spent = 0, rho_cap = 0;    // for a cap in ρ
  std::optional<Tally> this_data = {};  // where the data set has one
};

// Milliseconds since 1970, of the system's clock unless a test says otherwise.
using Clock = std::function<std::int64_t()>;
std::int64_t system_clock();

class Ledger {
 public:
  Ledger(std::unique_ptr<Database> database, OpenMode mode, Clock clock = system_clock);
  static Ledger open(const StoreLocation& location, OpenMode mode) {
    return {open_database(location, mode), mode};
  }

  Receipt create(const Dataset& dataset);  // throws InvalidArgument when the name is taken
  Receipt reserve(const Charge& charge);   // throws BudgetExceeded; only the refusal is written
  Receipt charge(const Charge& charge);
  // Of a reservation; committing twice is an error. result: names what it paid for, so that only
  // that can be written out again. said: what it says about this data, for a tally.
  Receipt commit(std::int64_t entry, const std::string& result = {},
                 const std::optional<Statement>& said = {});
  Receipt abandon(std::int64_t entry, const std::string& reason, const std::string& by = {});
  Receipt quote(const Charge& charge);  // what reserve would answer; writes nothing
  // Renews, raises or closes a budget. private_pem: the secret half of the data set's owner key,
  // which signs the entry.
  Receipt decide(const std::string& dataset, const Decision& decision,
                 const std::string& private_pem);
  // Of the largest release like this that still fits, its ε; nothing when none does (account.hpp).
  std::optional<double> largest_like(const Charge& charge);

  // Reading. All of one call is one moment.
  // unreadable: takes the data sets that cannot be read, with the reason; without it they throw.
  std::vector<Account> accounts(std::map<std::string, std::string>* unreadable = nullptr);
  Tally tally(const Dataset& dataset);
  Dataset dataset(const std::string& name);  // throws InvalidArgument when there is none
  std::vector<Entry> entries(const std::string& dataset = {});  // all when no data set is named
  Entry head();
  // Throws VerificationFailed when the newest entry is not the one, or after the one, that the
  // witness names. Within a transaction.
  void check_kept_head(const Entry& head);
  std::string store();
  Database& database() { return *db_; }

 private:
  struct Found {
    Entry entry;
    bool committed, abandoned;
    std::string result = {};
  };
  Receipt append_charge(const Charge& charge, const std::string& kind, bool dry);
  Receipt append_new_charge(Transaction& t, const Charge& charge, const std::string& kind);
  void append_refusal(Transaction& t, const Charge& charge, const std::string& reason);
  std::int64_t now();
  Account counted_anew(const Dataset& dataset);
  Entry append_settlement(const Entry& reservation, nlohmann::json body);
  Receipt settle(std::int64_t seq, nlohmann::json body, const std::optional<Statement>& said = {});
  Account& account(const std::string& dataset);
  Account& defined(const std::string& dataset);
  std::map<std::string, std::string> spends(const std::string& dataset);  // as stored, by part
  void recall_newest(Account& account);
  void check_tally_stays(const Entry& definition);
  Entry entry(std::int64_t seq);
  Found find(Entry reservation);
  void check_spends(const std::string& dataset, const std::map<std::string, std::string>& spends);
  Entry append(nlohmann::json body, const std::string& dataset,
               const std::optional<PlaceSpend>& left = {});
  void finish(Transaction& transaction, const Entry& newest);
  Receipt receipt(const Account& account, std::int64_t seq, const Entry& head);

  std::unique_ptr<Database> db_;
  Clock clock_;
  std::string store_;
  struct Known {
    std::int64_t seq;  // of the entry with the definition
    Account account;
  };
  std::map<std::string, Known> known_;  // spends are read anew each time
};

}  // namespace sotto::ledger
