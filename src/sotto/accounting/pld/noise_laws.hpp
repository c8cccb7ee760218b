// Loss laws of the unsampled mechanisms, in closed form.
//
// What       One function a mechanism, from its parameters to a pair that dominates it.
// Guarantee  Each law dominates every pair of neighbours at the stated distance; `attained` says
//            whether some pair equals it.
// Method     docs/math/pld.md §2 derives each.
// Numerics   Masses to a few units in the last place; lattices too large to enumerate carry their
//            error in shift, slack and charged.
// Reference  [KOV17], [DDR20], [CKS20], [BS16]; docs/math/pld.md §2.
#pragma once

#include <cstdint>
#include <vector>

#include "sotto/accounting/pld/profile.hpp"

namespace sotto {

LossLaw gaussian_law(double mu);      // N(μ,1) against N(0,1)
LossLaw laplace_law(double epsilon);  // shift ÷ scale = ε
// Σ w_k N(p_k, 1) against Σ w_k N(q_k, 1), seen in cells: post-processing, so what it loses is a
// lower bound, also where the loss is not monotone. `rest` of the weight was left out: missing in
// P, and counted in every cell of Q.
LossLaw mixtures_in_cells(const std::vector<double>& weights, const std::vector<double>& p_means,
                          const std::vector<double>& q_means, double rest);
LossLaw randomized_response_law(double epsilon, std::uint64_t categories);
LossLaw approximate_law(double epsilon, double delta);

// Discrete noise; upper and attained laws differ when the lattice is too fine or of several
// dimensions. distance, scale and sigma are in units of the lattice. A distance between two whole
// numbers is rounded up for the law that dominates and down for the one that is attained
// (lattice.hpp).
LawRun discrete_laplace_run(double scale, double distance);
LawRun discrete_gaussian_run(double sigma, double distance, std::uint64_t dimension);

LawRun bounded_range_run(double epsilon);
// Rényi divergence of order α at most ρα for 1 < α < ω.
LawRun concentrated_run(double rho, double omega);

}  // namespace sotto
