// The account of one data set: what its parts have spent, and whether one event more fits.
//
// What       charge(event, part) and refund(event, part) change the spend, each as a whole or not
//            at all; epsilon() states it.
// Guarantee  rdp, zcdp, gdp: adaptive_budget.hpp, for each part the releases about the whole and
//            those about the part. A record is in at most one part, so the loss about it is that of
//            its part; admitting needs every part that is touched to stay covered. pld: each charge
//            uses up one event of the plan; the plan as a whole costs at most the cap, and so does
//            what was used of it.
// Method     Spends are kept per part and for the whole ("") apart, so that a charge changes
//            exactly one of them. A release with a δ that is all that was spent so far costs what
//            it costs alone; filters ask more, for the freedom to choose what follows.
// Reference  docs/math/filters.md.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "sotto/accounting/budget/adaptive_budget.hpp"
#include "sotto/accounting/composition/run_length.hpp"
#include "sotto/ledger/dataset.hpp"

namespace sotto::ledger {

class Account {
 public:
  explicit Account(Dataset dataset);  // throws InvalidArgument

  const Dataset& dataset() const { return dataset_; }
  std::vector<std::string> places() const;  // "" and the parts

  void check_place(
      const std::string& part) const;  // throws InvalidArgument for a part that is not declared

  // Both throw and change nothing; charge throws BudgetExceeded. They return the new spend of
  // `part`, as text to be stored.
  std::string charge(const Event& event, const std::string& part);
  std::string refund(const Event& event, const std::string& part);

  // The newest release that was charged, where the account was restored from what is stored. True
  // when it is all that was spent about the records of its part.
  bool remember(const Event& event, const std::string& part);
  void forget() { newest_.reset(); }

  // ε on its own of the least noisy release like this one that still fits; nothing when none does,
  // or none has an ε.
  std::optional<double> largest_like(const Event& event, const std::string& part) const;

  std::string stored(const std::string& part) const;
  std::string digest() const;  // of all spends: every entry about the data set states it
  void restore(const std::string& part, const std::string& text);  // throws DataError

  bool has_epsilon() const { return dataset_.epsilon > 0 || dataset_.delta > 0; }
  double epsilon() const;  // spent, of the part that spent most
  double epsilon_of(const std::string& part) const;
  double epsilon_left() const;  // 0 or more
  double left() const;          // of the cap, in ρ where it is one; 0 or more
  double rho() const;           // for a cap in ρ
  void check_plan() const;  // throws BudgetExceeded when all of the plan costs more than the cap

 private:
  using Used = std::vector<std::uint64_t>;  // of each run of the plan
  bool has_place(const std::string& part) const;
  Spend total(const std::string& part) const;
  const Spend& cost(const Event& event);
  std::vector<std::string> touched_by(const std::string& part) const;
  bool is_first(const std::string& part) const;
  // The total that the cap would not cover; nothing when it covers the cost.
  std::optional<Spend> uncovered(const Spend& cost, const std::string& part) const;
  std::string change(const Event& event, const std::string& part, bool add);
  void use_plan(const Event& event, bool add);
  // Whether the newest release, one with a δ, is all that was spent at this place, and is covered.
  bool is_all(const std::string& place) const;
  [[noreturn]] void refuse(const Event& event, const std::string& part, const Spend& sum) const;

  Dataset dataset_;
  std::optional<AdaptiveBudget> budget_;
  std::map<std::string, Spend> spends_;
  std::vector<Run> plan_;
  Used used_;
  std::optional<std::pair<Event, Spend>> last_cost_;  // the same event is charged again and again
  struct Newest {
    Event event;
    std::string part;
    Spend cost;
    mutable std::optional<double> alone = {};  // made when it is asked for
  };
  std::optional<Newest> newest_;
};

// Of the spends of all places of a data set, as they are stored: SHA-256 of a line "<SHA-256 of the
// place> <SHA-256 of its spend>" each, in order of the places' bytes. A server computes the same
// (backend/postgres_functions.cpp).
std::string digest_of_spends(const std::map<std::string, std::string>& spends);

}  // namespace sotto::ledger
