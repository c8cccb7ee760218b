// Amplification by sampling, for any (ε, δ) mechanism.
//
// What       A mechanism that is (ε, δ)-DP, run on a random sample whose membership stays secret.
// Guarantee  Poisson with rate q (add or remove, zero out) and fixed size without replacement, q =
//            size/population (replacement):
//            (ln(1 + q(e^ε − 1)), qδ). With replacement, m draws from n (replacement): ln(1 + (1 −
//            (1 − 1/n)^m)(e^ε − 1)) and
//            Σ_k Bin(m, 1/n)(k) δ_k(ε), δ_k the profile for groups of k.
//            Both are tight for the class of all (ε, δ) mechanisms (Poisson and without
//            replacement).
// Method     Closed forms; the profile for groups is the caller's, the binomial tail is charged in
//            full.
// Numerics   Widened by the few roundings made.
// Reference  [BBG18]; docs/math/amplification.md.
#pragma once

#include <cstdint>
#include <functional>

#include "sotto/accounting/composition/basic.hpp"

namespace sotto {

ApproximateDp amplify_poisson(const ApproximateDp& base, double rate);
ApproximateDp amplify_fixed_size(const ApproximateDp& base, double rate);

// The base ε whose amplification is the given ε (rounded down), and the amplified one of a base ε
// (rounded up).
double amplified_epsilon(double base_epsilon, double rate);

// group_delta(k, ε) bounds δ(ε) of the mechanism for neighbours that differ in k records.
ApproximateDp amplify_with_replacement(
    double base_epsilon, const std::function<double(std::uint64_t, double)>& group_delta,
    std::uint64_t draws, std::uint64_t population);

}  // namespace sotto
