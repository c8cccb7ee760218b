// What releases cost these very records: a second cap beside a data set's own, by its owner's wish.
//
// What       Tally adds up one statement (ε, δ) for each release of a period. It is never part of
//            the account: a release has to fit both.
// Guarantee  Everything released in the period is at most e^ε times likelier, plus δ + risk(), on
//            these records than on those of any neighbour. That is one direction for one data set,
//            not a promise to anybody whose data it might be.
// Method     A release is entered with its guarantee, which holds for any records. One that says
//            more, with a confidence, about the records at hand (pate: epsilon_upper) announces so
//            when it is reserved. That takes its risk, 1 − confidence, for good, whether or not
//            the statement comes or counts: else the statements that came out low would be chosen.
//            So does each run that takes the reservation up again.
//            The commit lowers the entry, and not before: a run that dies stays at its guarantee.
// Numerics   Sums are exact and rounded up.
// Reference  docs/math/pate.md, section "A tally of statements".
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "sotto/accounting/numeric/exact_sum.hpp"
#include "sotto/core/spec.hpp"
#include "sotto/ledger/dataset.hpp"
#include "sotto/ledger/entry.hpp"

namespace sotto::ledger {

struct Statement {
  double epsilon = 0, delta = 0;
  double confidence = 1;  // 1: a guarantee
};

// Of a statement that will come with the result; delta = 0: none will.
struct Announcement {
  double delta = 0, confidence = 0;
};

// What a release is entered with.
struct Entered {
  Statement guarantee;
  double announced = 0;  // confidence of the statement that may lower it; 0: none may
};

class Tally {
 public:
  // All statements of a period together: a fifth, and what doubles like 1 − .95 are too large.
  static constexpr double kMostRisk = .2 + 0x1p-40;
  // Releases without a statement of their own are counted at this share of the data set's δ.
  static constexpr double kShareOfDelta = 1.0 / 64;

  explicit Tally(const Dataset& dataset);

  bool active() const { return cap_ > 0; }
  // An announcement that finds no risk left, or of events that can say nothing, is passed over.
  // Throws BudgetExceeded where the release has no ε.
  Entered worst_of(const Spec& spec, const Announcement& announced) const;
  // Throws BudgetExceeded, and changes nothing, when the tally would pass its caps.
  void enter(std::int64_t entry, const Entered& entered);
  // Whether the statement counts; if not, the guarantee stays. events: of the release.
  bool lower(std::int64_t entry, const Statement& said, const Event& events);
  void take_out(std::int64_t entry);  // its risk was taken
  // Another run takes the reservation up and draws anew: a statement more, with a risk of its own.
  // Where none is left, no statement of this entry counts any more.
  void draw_again(std::int64_t entry);
  // Caps of another definition; what was entered stays.
  void follow(const Dataset& dataset);

  double cap() const { return cap_; }
  double epsilon() const { return epsilon_.upper(); }
  double delta() const { return delta_.upper(); }
  double risk() const { return risk_.upper(); }  // that some statement is too low
  double confidence() const;                     // 1 − risk, rounded down
  double failure() const;                        // δ + risk
  double left() const;                           // 0 or more

 private:
  Statement without_statement(const Spec& spec) const;

  std::string name_;
  double cap_ = 0, largest_delta_ = 0;
  std::map<std::int64_t, Entered> all_;
  ExactSum epsilon_, delta_, risk_;
};

// The least ε at δ that a statement can come to which leaves with these events; nothing where they
// do not hold the two releases that make one (docs/math/pate.md).
std::optional<double> least_statement(const Event& events, double delta);

// Of the entries about one data set, those of its newest period. Throws VerificationFailed where an
// entry is not one that a ledger writes.
Tally tally_of(const Dataset& dataset, const std::vector<Entry>& entries);

nlohmann::json to_json(const Statement& statement);
nlohmann::json to_json(const Entered& entered);
Statement statement_from_json(const nlohmann::json& json);
Entered entered_from_json(const nlohmann::json& json);

}  // namespace sotto::ledger
