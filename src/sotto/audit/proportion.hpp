// Exact confidence limits of a proportion.
//
// What       clopper_pearson_upper/lower(successes, trials, alpha): one-sided limits of the
//            probability behind the successes.
// Guarantee  The limit is on the wrong side of the truth with probability at most alpha, whatever
//            the truth and the number of trials.
// Method     Quantiles of the beta law.
// Numerics   Boost.Math's inverse of the incomplete beta function, about 14 digits.
// Reference  [CP34].
#pragma once

#include <cstdint>

namespace sotto::audit {

double clopper_pearson_upper(std::uint64_t successes, std::uint64_t trials, double alpha);
double clopper_pearson_lower(std::uint64_t successes, std::uint64_t trials, double alpha);

}  // namespace sotto::audit
