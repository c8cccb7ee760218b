// Optimal composition of (ε_i, δ_i) mechanisms: what no analysis that knows only those numbers can
// improve.
//
// What       δ(ε) and ε(δ) of the composition of the worst mechanisms with the given parameters:
//            randomized response with odds e^ε_i, plus an event of probability δ_i that reveals
//            everything.
// Guarantee  The true optimum lies in [lower, upper]. Equal parts: the ends differ by rounding
//            only.
//            Different parts (a #P-hard sum [MV16]): the ends differ by at most the stated
//            precision, unless the work is capped, in which case the interval is wider and still
//            true.
// Method     Equal parts: a binomial sum around its mode, in ratios. Different parts: each run of
//            equal parts is a law of privacy losses; laws are convolved on one grid, once splitting
//            every loss between its two neighbours so that both hypotheses keep their mass
//            (pessimistic), once merging losses that share a cell (post-processing, optimistic).
// Numerics   Only positive terms; dropped tails are added to δ; widened by the number of
//            operations.
// Reference  [KOV17], [MV16], docs/math/composition.md.
#pragma once

#include <span>

#include "sotto/accounting/composition/basic.hpp"
#include "sotto/core/values.hpp"

namespace sotto {

struct Enclosure {
  double lower = 0, upper = 0;
};

inline constexpr double kOptimalPrecision = 1e-4;  // relative, for different parts

Enclosure optimal_delta(std::span<const ApproximateDp> parts, double epsilon,
                        double precision = kOptimalPrecision);
// upper is +∞ when the δ_i alone exceed delta.
Enclosure optimal_epsilon(std::span<const ApproximateDp> parts, Delta delta,
                          double precision = kOptimalPrecision);

// δ(ε) of the composition of one pure ε₀ mechanism `count` times.
Enclosure optimal_delta_equal(double epsilon0, std::uint64_t count, double epsilon);

}  // namespace sotto
