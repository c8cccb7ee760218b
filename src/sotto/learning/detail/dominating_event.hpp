// One event that costs at least as much as any of several: what a trial costs whose options are
// drawn at random.
//
// What       dominating_event(): a trial first draws a candidate by a public law, then runs it and
//            names it in its result.
// Guarantee  The Rényi divergence of such a trial is, at every order, at most that of the event;
//            where the event is Gaussian, so is its δ at every ε.
// Method     E_c[e^((α−1)D_α(c))] ≤ e^((α−1)·max D_α(c)): the largest curve bounds the mixture.
//            Equal events stand for themselves. Gaussian ones, whatever their noise and number, for
//            one of the largest μ: a loss distribution is known of it; not where the failure
//            probability of their lattice is more than the whole can bear. Otherwise the largest
//            pure ε, where the whole has to be pure; the largest ρ, where all are concentrated;
//            else a truncated ρ, ω that lies above all curves: D_α rises with α, so that D_{a'}/a
//            bounds D_α/α from a to a'.
// Numerics   The accountants' upper bounds; the last step loses at most 3 %.
// Reference  docs/math/tuning.md.
#pragma once

#include <functional>
#include <vector>

#include "sotto/core/event.hpp"
#include "sotto/core/relation.hpp"

namespace sotto {

// cost: what the event will cost where it is used; chooses ω. pure: the whole has no δ. Throws
// Unsupported when no such event is known.
Event dominating_event(const std::vector<Event>& events, Relation relation, bool pure,
                       const std::function<double(const Event&)>& cost);

}  // namespace sotto
