// Privacy odometer: how much has been spent, valid at every moment at once, without a budget fixed
// in advance.
//
// What       spend(event) records; epsilon() says what has been lost so far, although when to look
//            may depend on the releases.
// Guarantee  With probability 1 − δ the privacy loss is at most epsilon() at all times
//            simultaneously; in particular the releases up to any stopping time are (epsilon(), δ +
//            own δ)-DP.
// Method     e^(λ(L − ρ) − λ²ρ) is a supermartingale for every λ > 0 when each event is ρ_t-zCDP;
//            mixing λ over a half-normal law of variance 1/γ and Ville's inequality give L ≤ ρ +
//            √(2(2ρ + γ) ln(√((2ρ + γ)/γ)/δ)). γ is tuned to an expected ρ.
// Numerics   ρ is an exact sum, rounded up when read; the formula is widened.
// Reference  [RRUV16] odometers; [WRRW23] mixtures; docs/math/filters.md.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sotto/accounting/numeric/exact_sum.hpp"
#include "sotto/core/event.hpp"
#include "sotto/core/relation.hpp"
#include "sotto/core/values.hpp"

namespace sotto {

class Odometer {
 public:
  // expected_rho: where the odometer should be tightest; any choice is valid, a factor 10 off costs
  // about a tenth.
  Odometer(Delta delta, Rho expected_rho, Relation relation);

  void spend(const Event& event);  // throws Unsupported for events that are not concentrated
  double rho() const { return rho_.upper(); }
  double epsilon() const;
  double delta() const;  // δ of the odometer plus those of (ε, δ) events, rounded up

  nlohmann::ordered_json to_json() const;
  static Odometer from_json(const nlohmann::ordered_json& json);  // throws DataError

 private:
  double delta_, expected_rho_;
  Relation relation_;
  ExactSum rho_, own_delta_;
};

}  // namespace sotto
