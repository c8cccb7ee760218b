// Gradient boosting as a family: random trees with Newton leaves, drawn where earlier trees found
// something.
//
// What       Noisy marginals once, from which the scales of the columns follow. Then rounds of
//            `batch` trees: each cuts one to three columns into random intervals; every leaf
//            releases its noisy sums of residuals and curvatures, and takes a small Newton step.
//            after_kernel: 40 to 85 % of the budget go to a kernel model first, all of it for two
//            classes below 10 000 records per unit of noise; the trees go on from the margins that
//            it reached, on columns and pairs of columns that it found to matter. Where a trial of
//            its features finds little, trees take most of its last rounds, and give them back to
//            main effects where they find nothing.
// Guarantee  Composition of discrete Gaussian mechanisms. A record is in one leaf of each tree and
//            adds residuals of norm ≤ 1 and 0.3·curvature ≤ 0.3 there: ℓ2 ≤ √(batch·1.09) a round.
//            replace_one: twice as far.
//            That holds whatever margins a record has, so the two parts compose. Rounds of trees
//            in the place of rounds of the kernel model have at least their noise relative to what
//            a record adds, on no more coordinates: the event of the kernel model covers them, and
//            which they are follows from what was released before.
//            Marginals and, for a number, five sums of squared residuals: as for kernel models.
// Method     Trees are drawn from what was released (tree_choice.hpp), which costs nothing. A leaf
//            says −η·G/(H⁺ + 2σ), so that leaves of few records stay near 0. As in kernel models
//            the noise of a prediction does not depend on the number of trees T, only on η·T = τ,
//            and τ grows like √(n·μ). Steps become shorter when trees show little more than noise.
// Numerics   All sums are exact integers, noise is exact; the rest is post-processing.
// Reference  docs/math/boosting.md.
#pragma once

#include "sotto/learning/family.hpp"

namespace sotto {

Family boosting_family();

}  // namespace sotto
