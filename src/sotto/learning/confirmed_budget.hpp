// The noise that a budget allows, confirmed by the accountant: one search for all plans.
//
// What       largest_confirmed(): the largest value of one parameter, at or below a first guess,
//            whose event costs at most (ε, δ). confirmed(): a budget for mechanisms that know pure ε
//            and ρ only; for an (ε, δ) the largest ρ that does.
// Guarantee  The accountant's upper bound for the event of what is returned is at most ε.
// Method     The guess, lowered until the accountant agrees; then halvings of the distance to the
//            last refusal. More of the parameter must cost more.
// Numerics   Ends within 0.5 % of something refused.
// Reference  [BW18] for the first guess; docs/math/calibration.md.
#pragma once

#include <functional>

#include "sotto/core/event.hpp"
#include "sotto/core/relation.hpp"
#include "sotto/mechanisms/budget.hpp"

namespace sotto {

// Whether the accountant confirms the asked ε.
bool within(const ApproximateBudget& budget, Relation relation, const Event& event);

// Throws AccountingError when nothing near the guess is confirmed.
double largest_confirmed(const ApproximateBudget& budget, Relation relation, double guess,
                         const std::function<Event(double)>& event_of);

// A pure ε or a ρ is returned as it is.
Budget confirmed(const Budget& budget, Relation relation,
                 const std::function<Event(const Budget&)>& event_of);

// The zCDP parameter of a budget: its own, or that of the Gaussian mechanism with exactly this
// (ε, δ). Not for a pure ε.
double rho_of(const Budget& budget);

}  // namespace sotto
