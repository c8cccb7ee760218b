// Privacy filters: a budget fixed in advance, spent by events whose parameters may depend on
// everything released before.
//
// What       try_spend(event) records the event if the budget covers it and throws BudgetExceeded
//            if not, recording nothing.
//            Kinds: zcdp (Σρ), renyi (Σ of the divergence at one order), gdp (Σμ²), approximate
//            ((ε, δ) of Whitehouse et al.).
// Guarantee  Whatever is released while the filter admits it satisfies the guarantee stated by the
//            budget, although events were chosen adaptively: no more is lost than by fixing them in
//            advance. Privacy loss distributions do not compose under adaptively chosen parameters,
//            and such a filter is refused.
// Method     Sums are exact (exact_sum.hpp), costs of events are rounded up, and a spend that would
//            pass the budget by the smallest amount is refused. The order of a Rényi filter is
//            fixed in advance, too.
// Numerics   Exact sums and comparisons.
// Reference  [FZ21] Rényi; [WRRW23] zCDP and approximate; [ST22] Gaussian; docs/math/filters.md.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "sotto/accounting/bound.hpp"
#include "sotto/accounting/numeric/exact_sum.hpp"
#include "sotto/core/event.hpp"
#include "sotto/core/relation.hpp"
#include "sotto/core/values.hpp"

namespace sotto {

enum class FilterKind { zcdp, renyi, gdp, approximate };
std::string_view name(FilterKind kind);
FilterKind parse_filter_kind(
    std::string_view text);  // throws Unsupported for "pld", InvalidArgument for the unknown

class Filter {
 public:
  static Filter zcdp(Rho budget, Relation relation);
  // At most `budget` of Rényi divergence at this order.
  static Filter renyi(double order, double budget, Relation relation);
  // The budget at this order whose tight conversion is (ε, δ).
  static Filter renyi_for(Epsilon epsilon, Delta delta, double order, Relation relation);
  static Filter gdp(double mu, Relation relation);
  // (ε, δ) overall. own_delta is set aside for the δ of (ε, δ) events; the rest of δ pays for
  // composition.
  static Filter approximate(Epsilon epsilon, Delta delta, Relation relation, double own_delta = 0);

  FilterKind kind() const { return kind_; }
  Relation relation() const { return relation_; }
  double budget() const { return budget_; }
  double spent() const { return spent_.upper(); }  // rounded up
  double spent_delta() const { return spent_delta_.upper(); }

  bool would_exceed(const Event& event) const;
  void try_spend(
      const Event& event);  // throws BudgetExceeded, or Unsupported for an event of no such cost

  // ε at δ that the whole budget allows, whatever is spent later.
  double epsilon(Delta delta) const;

  nlohmann::ordered_json to_json() const;
  static Filter from_json(const nlohmann::ordered_json& json);  // throws DataError

 private:
  struct Cost {
    ExactSum amount, delta;
  };
  Filter(FilterKind kind, Relation relation, double budget)
      : kind_(kind), relation_(relation), budget_(budget) {}
  Cost cost(const Event& event) const;
  Cost after(const Event& event) const;

  FilterKind kind_;
  Relation relation_;
  double budget_ = 0, delta_budget_ = 0;
  double order_ = 0;                              // renyi only
  double target_epsilon_ = 0, target_delta_ = 0;  // approximate only
  ExactSum spent_, spent_delta_;
};

// μ² of an event on the gdp gauge, rounded up; throws Unsupported for an event that is not
// Gaussian-private.
double gdp_squared(const Event& event, Relation relation);

// √(2 ln(1/δ) Σε²) + Σε²/2: what pure mechanisms with this sum of squares cost under full
// adaptivity [WRRW23].
double filter_epsilon_of_squares(double sum_of_squares, Delta delta);

}  // namespace sotto
