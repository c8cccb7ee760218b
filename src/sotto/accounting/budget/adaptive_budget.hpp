// A cap on what a data set may lose, spent by events that are chosen one after the other: several
// filters side by side.
//
// What       cost(event) says once what an event costs on every gauge; a Spend is a sum of such
//            costs; covers(spend) says whether the cap still holds; epsilon(spend) is the ε that
//            the gauges grant the spend, at most the cap exactly while it is covered.
// Guarantee  Releases made only while covers() held satisfy the cap, although each event may depend
//            on everything released before.
// Method     Gauge k alone is a filter for (ε, δ_k). Transcripts that gauge k admits to their end
//            are those of the computation stopped by k, so on them P ≤ e^ε·Q + δ_k. Admitting
//            whatever any gauge admits costs Σδ_k = δ. Adding up pure ε has δ_k = 0 and is always
//            among them (what is not pure joins it as (ε, δ) with a small δ). rdp: one Rényi order
//            that suits a full budget has most of δ, eight others share the rest; zcdp and gdp: one
//            gauge with all of δ. own_delta of δ is set aside for events that have a failure
//            probability of their own: half of it for the sum of (ε, δ), half for the rest.
// Numerics   Sums and comparisons are exact. Pure ε and ρ count in steps of 10^-12 that decimals
//            such as 0.1 meet exactly, so ten charges of 0.1 fill a cap of 1; every other charge is
//            rounded up to a step and every other cap down.
// Reference  [FZ21], [WRRW23], [ST22]; docs/math/filters.md, section "Several filters side by
//            side".
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "sotto/accounting/bound.hpp"
#include "sotto/accounting/numeric/exact_sum.hpp"
#include "sotto/core/event.hpp"
#include "sotto/core/relation.hpp"

namespace sotto {

// Either epsilon (with delta, or delta = 0 for a pure cap) or rho. With a rho cap, delta is only
// used to state ε.
struct BudgetCap {
  Accountant accountant = Accountant::rdp;  // rdp, zcdp or gdp
  Relation relation = Relation::add_remove;
  double epsilon = 0, delta = 0, own_delta = 0;
  double rho = 0;
};

class AdaptiveBudget;

// What was spent, per gauge. Spends of one budget can be added and taken away; exact, so the order
// does not matter.
class Spend {
 public:
  void add(const Spend& other);
  void subtract(const Spend& other);  // throws DataError when the other was never added
  nlohmann::ordered_json to_json() const;
  static Spend from_json(const nlohmann::ordered_json& json,
                         const AdaptiveBudget& budget);  // throws DataError
  friend bool operator==(const Spend&, const Spend&) = default;

 private:
  friend class AdaptiveBudget;
  struct Sum {
    ExactSum amount, delta;
    std::uint64_t unbounded = 0;  // events that have no finite cost on this gauge
    friend bool operator==(const Sum&, const Sum&) = default;
  };
  std::vector<Sum> sums_;
};

class AdaptiveBudget {
 public:
  explicit AdaptiveBudget(const BudgetCap& cap);  // throws InvalidArgument

  const BudgetCap& cap() const { return cap_; }
  Spend nothing() const;
  Spend cost(const Event& event) const;  // throws Unsupported when no gauge can express the event
  bool covers(const Spend& spend) const;
  // ε at the cap's δ, +∞ when nothing is bounded; NaN never. Throws InvalidArgument for a rho cap
  // without delta.
  double epsilon(const Spend& spend) const;
  bool is_pure(const Spend& spend) const;      // has an ε without any δ
  double rho(const Spend& spend) const;        // of the zcdp gauge; +∞ when there is none
  double own_delta(const Spend& spend) const;  // of the cheapest covering gauge, else of the first
  double least_own_delta(const Spend& spend) const;  // of the gauge that has the least
  double own_limit() const;                          // what it may be at most

 private:
  enum class Kind { pure, zcdp, gdp, renyi };
  struct Gauge {
    Kind kind;
    double budget;  // in units of the gauge
    double order;   // renyi only
    double share;   // of δ
  };
  friend class Spend;
  void add_orders(double delta);
  void price_at_a_delta(const Event& event, Spend& total) const;
  bool covers(const Gauge& gauge, const Spend::Sum& sum) const;
  double epsilon(const Gauge& gauge, const Spend::Sum& sum) const;

  BudgetCap cap_;
  std::vector<Gauge> gauges_;
};

}  // namespace sotto
