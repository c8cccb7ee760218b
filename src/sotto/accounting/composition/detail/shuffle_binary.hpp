// Detail: shuffled randomized response with two categories, seen as one count.
//
// What       An upper bound of δ(ε) whatever the others answer, and as close to the worst of their
//            answers as asked for.
// Guarantee  replace_one.
// Method     With m of N others answering "one" the count is X + own, X a sum of two binomials, and
//            δ = max_t[u·P(X = t−1) − (e^ε − 1)·P(X ≥ t)], u = p − e^ε q. Answers of a block of
//            values of m are bounded by giving away the reports of the users who are free in it:
//            N is smaller by the width, the rest is known. Blocks that may hold the largest are
//            halved until their bound is hardly above what is attained.
// Numerics   Sums of positive terms by their ratios; relative error below 1e-9.
// Reference  docs/math/amplification.md.
#pragma once

#include <cstdint>

namespace sotto {

// slack: how far above the δ of others who all answer alike, relative, an answer may be; ε < ε₀.
double shuffled_binary_delta_above(double local_epsilon, std::uint64_t population, double epsilon,
                                   double slack);

}  // namespace sotto
