// What a membership test that was tried often proves about ε.
//
// What       Lower bounds of ε from the four counts of a test that decides between two data sets,
//            one with a record and one without it.
// Guarantee  With probability at least 1 − alpha the bound of clopper_pearson_epsilon is at most
//            the ε of the mechanism at this δ, if trials are independent and the test was fixed
//            before they were seen. gaussian_estimate holds only for mechanisms whose trade-off is
//            that of a Gaussian: an estimate under an assumption.
// Method     TPR ≤ e^ε·FPR + δ and TNR ≤ e^ε·FNR + δ with upper limits of FNR and FPR, each at
//            alpha/2; μ ≥ Φ⁻¹(1 − FPR) − Φ⁻¹(FNR).
// Numerics   About 14 digits; no outward rounding: a confidence level has no such digits.
// Reference  [JUO20], [NHS+23]; docs/math/audit.md.
#pragma once

#include <cstdint>

namespace sotto::audit {

struct AttackCounts {
  std::uint64_t true_positives = 0, false_negatives = 0;  // of members
  std::uint64_t false_positives = 0, true_negatives = 0;  // of non-members

  std::uint64_t members() const { return true_positives + false_negatives; }
  std::uint64_t nonmembers() const { return false_positives + true_negatives; }
};

// Upper limits of the two error rates.
struct ErrorRates {
  double false_negative, false_positive;
};
// Both hold together with probability at least 1 − alpha. Throws InvalidArgument without members
// or without non-members.
ErrorRates error_rates(const AttackCounts& counts, double alpha);

double epsilon_of(const ErrorRates& rates, double delta);  // 0 when nothing is proved
double mu_of(const ErrorRates& rates);                     // likewise

double clopper_pearson_epsilon(const AttackCounts& counts, double delta, double alpha);
// The most that so many trials can prove: of a test without errors.
double clopper_pearson_ceiling(std::uint64_t members, std::uint64_t nonmembers, double delta,
                               double alpha);

struct GaussianEstimate {
  double mu, epsilon;
};
GaussianEstimate gaussian_estimate(const ErrorRates& rates, double delta);

}  // namespace sotto::audit
