// What one run with many canaries proves about ε.
//
// What       m canaries are put into the data by fair coins; whoever sees the result guesses r of
//            the coins and has v right. one_run_epsilon: the ε below which that is too good.
// Guarantee  With probability at least 1 − alpha the bound is at most the ε of the mechanism at δ,
//            for any guesses made from the result, if m and r were fixed before. The Gaussian
//            refinement holds only for mechanisms whose trade-off is that of a Gaussian: an
//            estimate under an assumption.
// Method     The number of right guesses is dominated by a binomial law of probability e^ε/(1+e^ε),
//            but for a correction by δ; the bound inverts that test. The refinement bounds the
//            tail through the trade-off function, one right guess after another.
// Numerics   About 12 digits.
// Reference  [SNJ23], [MMC24]; docs/math/audit.md.
#pragma once

#include <cstdint>

#include "sotto/audit/counts.hpp"

namespace sotto::audit {

struct OneRun {
  std::uint64_t canaries = 0, guesses = 0, correct = 0;
};

// The probability of so many right guesses, at most, under (ε, δ)-DP.
double one_run_p_value(const OneRun& run, double epsilon, double delta);
// Throws InvalidArgument unless correct ≤ guesses ≤ canaries and canaries ≥ 1.
double one_run_epsilon(const OneRun& run, double delta, double alpha);
// With every guess right.
double one_run_ceiling(const OneRun& run, double delta, double alpha);

GaussianEstimate one_run_gaussian_estimate(const OneRun& run, double delta, double alpha);

}  // namespace sotto::audit
