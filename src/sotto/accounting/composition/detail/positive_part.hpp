// Detail: the expected positive part of a sum of independent draws that take three values.
//
// What       E[(Z₁ + … + Z_n)₊] for draws that are `high` (above 0), `low` or, else, `middle`,
//            low ≤ middle ≤ 0: the hockey-stick divergence of shuffled reports is one n-th of it.
// Guarantee  bounded from the side asked for.
// Method     Given b draws of low the sum is positive when the number of highs exceeds a line in b,
//            and the expectation f(b) is a sum of positive terms that is convex and falls with b:
//            a block of values of b is bounded by its chord from above and at its mean from below.
// Numerics   What is left out is at most kLeftOut of the sum, and counted from above.
// Reference  docs/math/amplification.md.
#pragma once

#include <cstdint>

namespace sotto {

struct ThreeValues {
  double high, middle, low;                  // high > 0 ≥ middle ≥ low
  double high_probability, low_probability;  // of high + low at most 1; the rest is middle
  double middle_probability;                 // 1 − the two others, without cancellation
};

// Blocks are a `part`-th of the deviation of b wide.
double positive_part_above(const ThreeValues& draw, std::uint64_t draws, double part);
double positive_part_below(const ThreeValues& draw, std::uint64_t draws, double part);

}  // namespace sotto
