// The (ε, δ) guarantee of one event at a given δ, from closed forms: what basic, advanced and
// optimal composition start from.
//
// What       The smallest ε this library knows, without numerical composition, such that the event
//            is (ε, δ)-DP. +∞: none.
// Guarantee  An upper bound: the event is (event_epsilon(δ), δ)-DP under the relation.
// Method     Natural pairs as they are; Gaussian exactly; sampling and shuffling by amplification
//            of the inner guarantee; everything else through its Rényi curve.
// Numerics   Rounded up at every step. A curve keeps what does not depend on δ (Rényi divergences,
//            the law of clones), so that asking it for many δ costs little more than one.
// Reference  docs/math/amplification.md, docs/math/composition.md.
#pragma once

#include <functional>

#include "sotto/core/event.hpp"
#include "sotto/core/relation.hpp"

namespace sotto {

using EpsilonCurve = std::function<double(double delta)>;

// delta in [0, 1). Both throw Unsupported for a relation under which the event has no guarantee,
// the curve when made or when asked.
EpsilonCurve epsilon_curve(const Event& event, Relation relation);
double event_epsilon(const Event& event, Relation relation, double delta);

}  // namespace sotto
