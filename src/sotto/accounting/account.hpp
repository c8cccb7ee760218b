// The front door: ε of a specification at δ, δ at ε, by one accountant or by the best of all.
//
// What       epsilon() and delta() return a Bound; compare() asks every accountant.
// Guarantee  upper is a true upper bound, lower a true lower bound. `automatic` takes the smallest
//            upper and the largest lower of the accountants that can express the events. Never NaN,
//            never negative, never upper < lower.
// Method     Closed forms first where they are the last word (all Gaussian; all the same worst
//            case); otherwise the privacy loss distribution at the wanted tolerance and the cheap
//            bounds beside it.
// Numerics   Whatever the accountants promise; see there.
// Reference  docs/math/composition.md.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sotto/accounting/bound.hpp"
#include "sotto/core/spec.hpp"
#include "sotto/core/values.hpp"

namespace sotto {

Bound epsilon(const Spec& spec, Delta delta, const AccountOptions& options = {});
Bound delta(const Spec& spec, double epsilon, const AccountOptions& options = {});

// The same, with δ = 0 allowed: then the sum of pure ε; AccountingError when an event is not pure.
// For budgets and certificates.
Bound guarantee(const Spec& spec, double delta, const AccountOptions& options = {});

// One line of the comparison: an answer or why there is none.
struct Comparison {
  Accountant accountant;
  std::optional<Bound> bound;
  std::string refusal;
};
std::vector<Comparison> compare(const Spec& spec, Delta delta, const AccountOptions& options = {});

}  // namespace sotto
