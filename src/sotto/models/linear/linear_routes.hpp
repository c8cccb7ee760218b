// All routes to privacy for linear models: from public facts, options and a budget to a planned
// route.
//
// What       linear_methods(): all of them, with the options that each knows. make_route(method,
//            …): the route with its constants settled, or a refusal that says what to use instead.
// Guarantee  That of the route, and for an (ε, δ) the word of the accountant: its upper bound for
//            the route's event is at most the asked ε.
// Method     Routes that work in ρ are given the ρ of the Gaussian mechanism with exactly the asked
//            (ε, δ), lowered until the accountant agrees (learning/confirmed_budget.hpp).
//            Mini-batches are given the smallest noise multiplier found with which it agrees.
// Numerics   What is returned was confirmed.
// Reference  docs/math/linear-models.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "sotto/learning/family.hpp"
#include "sotto/learning/individual_filter.hpp"
#include "sotto/mechanisms/budget.hpp"
#include "sotto/models/linear/linear_route.hpp"
#include "sotto/models/linear/method_choice.hpp"
#include "sotto/models/linear/sample_aggregate.hpp"

namespace sotto {

// A method reads those that it declares in linear_methods(); the family refuses the others.
struct RouteOptions {
  std::uint64_t iterations = 0;  // gradient; 0: by the public rule
  // gradient: individual accounting with noise for gradients of this share of the largest norm
  std::optional<double> typical_norm = {};
  std::optional<OverBudget> over_budget = {};  // gradient, with it: shorten (default) or drop
  double batch = 0;                  // gradient: expected size of a mini-batch; 0: all rows
  std::optional<bool> average = {};  // gradient: average of iterates (default) or the last
  double radius = 0;                 // of the ball of parameters; 0: by the method's own rule
  double regularisation = 0;         // 0: by the method's own rule
  std::uint64_t parts = 0;           // sample_aggregate; 0: by the public rule
  std::optional<Aggregate> aggregate = {};           // sample_aggregate: mean (default) or median
  std::uint64_t bins = 0;                            // input: of a number; 0: by the public rule
  std::vector<std::vector<double>> candidates = {};  // exponential; empty: a grid
  std::vector<double> spreads = {};                  // none: of each feature, in public records
  unsigned threads = 0;
};

// "auto", which chooses one of the others, comes first; "none" is NOT PRIVATE.
const std::vector<Method>& linear_methods();

// The budget is needed for every method but none; the method is not auto.
std::unique_ptr<LinearRoute> make_route(std::string_view method, const PublicFacts& facts,
                                        const std::optional<Budget>& budget,
                                        const RouteOptions& options);

}  // namespace sotto
