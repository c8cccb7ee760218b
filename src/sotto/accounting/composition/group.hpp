// Group privacy: what a guarantee for one record says about k records.
//
// What       Pure kε; (ε, δ): (kε, δ(e^(kε) − 1)/(e^ε − 1)); zCDP k²ρ; GDP kμ; Rényi by repeated
//            halving of the order.
// Guarantee  Upper bounds; exact for pure, zCDP and GDP as classes.
// Method     Closed forms; for one (ε, δ) pair at another ε, the profile of randomized response.
// Numerics   Rounded up.
// Reference  [DR14], [BS16, Prop. 1.9], [DRS22], [Mir17, Prop. 2]; docs/math/composition.md.
#pragma once

#include <cstdint>

#include "sotto/accounting/composition/basic.hpp"
#include "sotto/accounting/renyi/renyi_conversion.hpp"

namespace sotto {

double group_pure(double epsilon, std::uint64_t size);
ApproximateDp group_approximate(const ApproximateDp& one, std::uint64_t size);
double group_zcdp(double rho, std::uint64_t size);
// δ at a chosen ε for a group of `size`, of a mechanism known only as one (ε, δ) pair.
double group_delta_at(const ApproximateDp& one, std::uint64_t size, double epsilon);
// Group of 2^c: divergence of order α ≥ 2^(c+1) is at most 3^c r at order α/2^c, r taken at order
// α.
double group_renyi(const RenyiBound& one, unsigned doublings, double order);

}  // namespace sotto
