// What accountants share about single events: their parameters as pure, concentrated or Gaussian mechanisms.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sotto/accounting/basic.hpp"
#include "sotto/core/event.hpp"
#include "sotto/core/relation.hpp"

namespace sotto {

// (ε, δ) of an event that has one pair by nature: Laplace, discrete Laplace, randomized response, exponential, pure, approximate,
// LNMax. Nothing for the others. ε rounded up.
std::optional<ApproximateDp> pure_parameters(const Event& event, Relation relation);

// ρ of Gaussian noise with this noise multiplier, 1/(2s²) rounded up.
double concentrated(double noise_multiplier);

// μ when the event (or composition) is exactly as private as a Gaussian mechanism: gaussian and gdp. Rounded up.
std::optional<double> gdp_parameter(const Event& event, Relation relation);

std::uint64_t lattice_steps(
    const DiscreteLaplaceEvent& event);  // the ℓ1-sensitivity in steps of the lattice
std::vector<double> scaled_shifts(
    const GaussianMixtureEvent& event);  // sensitivities in units of the noise, rounded up

// The cost of disjoint parts: the largest; under replace_one the two largest, as a record may move from one part to another.
double parallel_cost(std::vector<double> costs, Relation relation);

// Fixed-size sampling needs neighbours of equal size; throws Unsupported under add_remove.
void require_public_size(const SampledEvent& event, Relation relation);
double fixed_size_rate(const SampledEvent& event);  // size / population, rounded up, at most 1

}  // namespace sotto
