// Plans of the family `preprocess`.
//
// What       One noisy vector over all F numeric columns, from which bounds, means and deviations,
//            or edges follow.
// Guarantee  One discrete Gaussian (ρ) or Laplace (pure ε). With v ∈ [−1, 1] the number from the
//            middle of its bounds in half-widths, a record adds
//              bounds, bins  one count in one cell of each column: ℓ1 F, ℓ2 √F; replaced: 2F,
//              √(2F); scale         (1, v, v² − ½) with the first once for all: ℓ1 ≤ 1 + 3F/2, ℓ2 ≤
//                            √(1 + 5F/4); replaced: twice.
//            A unit with k records moves it k times as far.
// Method     bounds: cells are binary magnitudes of the number itself on both sides of 0, down to
//            2^−30 of the largest the declared bounds allow;
//            outermost cells whose noisy count is above what noise alone reaches in any cell with
//            probability 1 in 1000. None: the declared bounds stay.
//            scale: mean and variance of the noisy sums; a variance that drowns is that of ±1 % of
//            the bounds.
//            bins: 256 cells of equal width; counts below two deviations are 0; edges where the
//            cumulative count passes i/B, evenly spaced where nothing is left.
// Numerics   Steps of 2^−30 for sums; sums and counts are exact integers.
// Reference  docs/math/preprocessing.md.
#pragma once

#include <memory>

#include "sotto/learning/family.hpp"

namespace sotto {

// Throws InvalidArgument, Unsupported or DataError.
std::unique_ptr<TrainingPlan> preprocess_training(const Facts& facts,
                                                  const TrainingRequest& request);

}  // namespace sotto
