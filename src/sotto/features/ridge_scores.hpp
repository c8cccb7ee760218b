// Scores of classes by least squares with a ridge, for public records.
//
// What       Fits one linear function of a record for each class to what is said of some records,
//            and says what they give for others. Squared errors forgive a few wrong labels, where
//            a likelihood would bend to fit them.
// Guarantee  None needed: public records and labels that were released.
// Method     The smallest Σ‖Wᵀ(x, s) − t‖² + ridge·s²·‖W‖², s the root mean square length of the
//            records asked about, which stands in each record as a constant. So nothing depends on
//            the unit of the columns.
// Numerics   Single precision products, Cholesky in double precision.
// Reference  docs/math/pate.md.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "sotto/features/points.hpp"

namespace sotto::features {

inline constexpr std::size_t kMostRidgeColumns = 5000;

// known: rows of `all` that `targets` (known × classes) is about. The result is rows × classes.
// Throws InvalidArgument for no known row, sizes that do not fit together, or too many columns.
std::vector<double> ridge_scores(const Points& all, std::span<const std::size_t> known,
                                 std::span<const double> targets, std::size_t classes,
                                 double ridge);

}  // namespace sotto::features
