#include "paid/cost.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sotto/accounting/account.hpp"
#include "sotto/core/error.hpp"

namespace sotto::cli {

Cost cost_of(const Event& event, Relation relation, const Arguments& arguments) {
  const auto asked = arguments.maybe_number("epsilon"), delta = arguments.maybe_number("delta");
  if (!asked && !delta) return {};  // rho alone
  Bound bound = guarantee(Spec{relation, {event}}, delta.value_or(0));
  if (asked) {
    // The plan proves that it stays within the budget. An accountant that is sure of more has found
    // a defect of ours.
    if (bound.lower > *asked * (1 + 1e-9)) {
      invariant_broken(
          fmt::format("the plan costs epsilon {}, more than the budget {}", bound.lower, *asked));
    }
    bound.upper = std::min(bound.upper, *asked);
  }
  return {bound.upper, delta.value_or(0)};
}

}  // namespace sotto::cli
