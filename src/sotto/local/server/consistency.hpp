// Estimates that look like shares: not negative, adding up to 1. Named options, never the default.
//
// What       simplex: the nearest vector of shares (also known as norm-sub). em: the shares under
//            which the reports are likeliest.
// Guarantee  Post-processing: costs nothing. Neither is unbiased: sums of many small shares are too
//            large, and intervals around the result are not confidence intervals.
// Method     simplex: subtract one number from all, cut at 0, such that the sum is 1. em: the
//            expectation–maximisation of f from how many reports support each category, each
//            supported category taken as one observation: the maximum likelihood for randomized
//            response, a composite one for protocols whose reports support several.
// Numerics   em stops when no share moves by more than 1e-9, or after 10 000 rounds.
// Reference  [WLLSL20], [DLR77].
#pragma once

#include <vector>

#include "sotto/local/server/aggregator.hpp"

namespace sotto::local {

std::vector<double> onto_simplex(const std::vector<double>& shares);
std::vector<double> likeliest_shares(const Support& support);

}  // namespace sotto::local
