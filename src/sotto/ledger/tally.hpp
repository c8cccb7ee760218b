// What releases cost these very records: a second cap beside a data set's own, by its owner's wish.
//
// What       Tally adds up one statement (ε, δ) for each release of a period. It is never part of
//            the account: a release has to fit both.
// Guarantee  With the confidence that it states, everything released in the period is at most
//            e^ε times likelier, plus δ, on these records than on those of any neighbour. That is
//            one direction for one data set, not a promise to anybody whose data it might be.
// Method     A release is entered with its guarantee, which holds for any records. One that says
//            more, with a confidence, about the records at hand (pate: epsilon_upper) lowers its
//            entry in the transaction that makes it final, and not before: a run that dies stays at
//            its guarantee. Statements count while all of them together hold with kTogether.
// Numerics   Sums are rounded up.
// Reference  docs/math/pate.md, section "A tally of statements".
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "sotto/core/spec.hpp"
#include "sotto/ledger/dataset.hpp"
#include "sotto/ledger/entry.hpp"

namespace sotto::ledger {

struct Statement {
  double epsilon = 0, delta = 0;
  double confidence = 1;  // 1: a guarantee
};

class Tally {
 public:
  static constexpr double kTogether = .8;
  // Releases without a statement of their own are counted at this share of the data set's δ.
  static constexpr double kShareOfDelta = 1.0 / 64;

  explicit Tally(const Dataset& dataset);

  bool active() const { return cap_ > 0; }
  // What a release is entered with. delta: of the statement that will come with it; 0: none will.
  // Throws BudgetExceeded where the release has no ε at that δ.
  Statement worst_of(const Spec& spec, double delta) const;
  // Throws BudgetExceeded, and changes nothing, when the tally would pass its cap.
  void enter(std::int64_t entry, const Statement& worst);
  // Whether the statement counts; if not, the guarantee stays.
  bool lower(std::int64_t entry, const Statement& said);
  void take_out(std::int64_t entry) { all_.erase(entry); }
  // Caps of another definition; what was entered stays.
  void follow(const Dataset& dataset);

  double cap() const { return cap_; }
  double epsilon() const;
  double delta() const;
  double confidence() const;  // of all statements together
  double left() const;        // 0 or more

 private:
  void add_without_asking(std::int64_t entry, const Statement& statement);
  friend Tally tally_of(const Dataset& dataset, const std::vector<Entry>& entries);

  std::string name_;
  double cap_ = 0, largest_delta_ = 0;
  std::map<std::int64_t, Statement> all_;
};

// Of the entries about one data set, those of its newest period.
Tally tally_of(const Dataset& dataset, const std::vector<Entry>& entries);

nlohmann::json to_json(const Statement& statement);
Statement statement_from_json(const nlohmann::json& json);

}  // namespace sotto::ledger
