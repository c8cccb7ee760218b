// What a planned release costs, in the terms the user asked in.
#pragma once

#include <optional>

#include "options/arguments.hpp"
#include "sotto/core/event.hpp"
#include "sotto/core/relation.hpp"

namespace sotto::cli {

// Both are empty for a rho budget without --delta: ρ is then the guarantee.
struct Cost {
  std::optional<double> epsilon, delta;
};

// The accountant's upper bound of ε for the event, at δ = 0 for a pure budget, else at --delta.
Cost cost_of(const Event& event, Relation relation, const Arguments& arguments);

}  // namespace sotto::cli
