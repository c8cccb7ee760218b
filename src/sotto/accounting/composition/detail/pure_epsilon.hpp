// ε at δ = 0: what pure budgets are checked against.
//
// What       Σ count·ε over the mechanisms of a specification, for those that are ε-DP without a δ.
// Guarantee  The specification is (ε, 0)-DP under its relation; +∞ when one of its mechanisms is
//            not pure.
// Method     Basic composition of closed forms.
// Numerics   Rounded up.
// Reference  [DR14, Thm. 3.16]; event_epsilon.hpp, basic.hpp.
#pragma once

#include "sotto/core/spec.hpp"

namespace sotto {

double pure_epsilon(const Spec& spec);

}  // namespace sotto
