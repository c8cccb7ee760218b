// The noise that a budget allows, confirmed by the accountant.
//
// What       confirmed(): a budget for mechanisms that know pure ε and ρ only; for an (ε, δ) the
//            largest ρ, near that of the Gaussian with this profile, whose event costs no more.
// Guarantee  The accountant's upper bound for the event of what is returned is at most ε.
// Method     accounting/calibrate.hpp, confirm(). More ρ must cost more.
// Numerics   Ends within 0.5 % of something refused.
// Reference  [BW18] for the first guess; docs/math/calibration.md.
#pragma once

#include <functional>

#include "sotto/core/event.hpp"
#include "sotto/core/relation.hpp"
#include "sotto/mechanisms/budget.hpp"

namespace sotto {

// A pure ε or a ρ is returned as it is.
Budget confirmed(const Budget& budget, Relation relation,
                 const std::function<Event(const Budget&)>& event_of);

// The zCDP parameter of a budget: its own, or that of the Gaussian mechanism with exactly this
// (ε, δ). Not for a pure ε.
double rho_of(const Budget& budget);

}  // namespace sotto
