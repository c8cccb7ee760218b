// How far apart the scores of members and of others lie, if both are normal with one spread.
//
// What       A lower limit of μ, the difference of the means in units of the spread, and the ε that
//            a μ-Gaussian mechanism has: for white-box scores of canaries, which are sums of noise.
// Guarantee  None without the assumptions: scores independent and normal with one spread, the
//            mechanism's trade-off Gaussian. An estimate; under them the limit is below μ with
//            probability 1 − alpha.
// Method     The t statistic of two samples has a noncentral law whose centre is μ/√(1/a + 1/b);
//            its lower limit is that centre for which the statistic is the upper α-quantile. All
//            scores count, not only those beyond a threshold, so a thousand canaries tell more.
// Numerics   The noncentral t law by a normal one, (t(1 − 1/(4ν)) − c)/√(1 + t²/(2ν)); its level is
//            off by less than 0.002 from 20 degrees of freedom on.
// Reference  [JW40], [NHS+23]; docs/math/audit.md.
#pragma once

#include <span>

#include "sotto/audit/counts.hpp"

namespace sotto::audit {

// Nothing from fewer than 11 scores on a side.
GaussianEstimate shift_estimate(std::span<const double> members, std::span<const double> nonmembers,
                                double delta, double alpha);

}  // namespace sotto::audit
