// All routes to privacy for linear models: from public facts, options and a budget to a planned route.
//
// What       make_route(method, …): the route with its constants settled, or a refusal that says what to use instead.
// Guarantee  That of the route. Those that work in ρ are given the ρ of the Gaussian mechanism with exactly the asked (ε, δ); the accountant
//            has the last word, ρ is lowered by 1e-6 and more until it confirms the asked ε.
// Reference  docs/math/linear-models.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "sotto/mechanisms/budget.hpp"
#include "sotto/models/linear/linear_route.hpp"
#include "sotto/models/linear/method_choice.hpp"

namespace sotto {

struct RouteOptions {
  std::uint64_t iterations = 0;  // of gradient; 0: by the public rule
  double regularisation = 0;     // 0: by the method's own rule
  unsigned threads = 0;
};

// The budget is needed for every method but none; the method is not automatic.
std::unique_ptr<LinearRoute> make_route(Method method, const PublicFacts& facts,
                                        const std::optional<Budget>& budget,
                                        const RouteOptions& options);

}  // namespace sotto
