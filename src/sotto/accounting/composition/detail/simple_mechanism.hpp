// What accountants share about single events: their parameters as pure, concentrated or Gaussian
// mechanisms.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "sotto/accounting/composition/basic.hpp"
#include "sotto/core/event.hpp"
#include "sotto/core/relation.hpp"

namespace sotto {

// (ε, δ) of an event that has one pair by nature: Laplace, discrete Laplace, randomized response,
// exponential, pure, approximate, LNMax. Nothing for the others. ε rounded up.
std::optional<ApproximateDp> pure_parameters(const Event& event, Relation relation);

// ρ of Gaussian noise with this noise multiplier, 1/(2s²) rounded up.
double concentrated(double noise_multiplier);

// μ when the event (or composition) is exactly as private as a Gaussian mechanism: gaussian and
// gdp. Rounded up.
std::optional<double> gdp_parameter(const Event& event, Relation relation);

// The ℓ1-sensitivity in steps of the lattice, rounded up.
std::uint64_t lattice_steps(const DiscreteLaplaceEvent& event);
std::vector<double> scaled_shifts(
    const GaussianMixtureEvent& event);  // sensitivities in units of the noise, rounded up

// The cost of disjoint parts: the largest. Under replace_one a record may also leave one part and
// enter another: then the two largest costs of adding or removing a record are paid. cost(part,
// relation) must add up under composition.
double parallel_cost(const ParallelEvent& event, Relation relation,
                     const std::function<double(const Event&, Relation)>& cost);
// The same from the costs of each part for a record that stays in it and (replace_one only, else
// empty) for one that moves.
double parallel_cost(const std::vector<double>& stays, const std::vector<double>& moves);

// Fixed-size sampling needs neighbours of equal size; throws Unsupported under add_remove.
void require_public_size(const SampledEvent& event, Relation relation);
double fixed_size_rate(const SampledEvent& event);  // size / population, rounded up, at most 1

}  // namespace sotto
