// Which protocol suits: the errors of all of them for k categories, ε and n reports.
//
// What       predicted_errors lists every protocol for categories with the standard error of a
//            share; best_protocol names the one with the least error whose reports are short
//            enough and quick to collect (`auto`).
// Guarantee  Uses public numbers only.
// Method     n·Var of each protocol at a share of 1/k, its average over categories when all are
//            alike; ties go to the shorter report. Few hash functions (fast_olh) add an error that
//            does not fall with n: Σf²/((g−1)S), for categories as frequent as Zipf's law says.
// Numerics   The formulas of docs/math/local-privacy.md, from the probabilities that the clients
//            use.
// Reference  [WBLJ17]; docs/math/local-privacy.md.
#pragma once

#include <string>
#include <vector>

#include "sotto/local/client/declaration.hpp"

namespace sotto::local {

struct PredictedError {
  std::string protocol;
  double unit_variance;      // n·Var of the estimate of one share
  double standard_error;     // of a share, for n reports
  std::size_t report_bytes;  // of one report
  double epsilon;            // exactly, rounded up
};

// share: of the category that is estimated. Protocols that cannot have so many categories are left
// out. Ordered by standard error.
std::vector<PredictedError> predicted_errors(double epsilon, std::uint64_t categories,
                                             std::uint64_t reports, double share);

inline constexpr std::size_t kShortReport = 4096;
inline constexpr std::uint64_t kExpectedReports = 1'000'000;
// Beyond so many categories nothing is chosen whose collector looks at each of them for each
// report.
inline constexpr std::uint64_t kQuickToCollect = 1 << 15;
// reports: about how many are expected.
std::string best_protocol(double epsilon, std::uint64_t categories,
                          std::uint64_t reports = kExpectedReports,
                          std::size_t most_bytes = kShortReport);

}  // namespace sotto::local
