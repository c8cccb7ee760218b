// Statistical tests with a stated false-alarm rate. Each returns a p-value; a test fails when p <
// kAlpha.
// With a fixed seed a test is deterministic: it either passes for ever or is wrong.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace sotto::test {

inline constexpr double kAlpha = 1e-6;  // false-alarm rate of every statistical test

// Chi-square goodness of fit of counts against probabilities (which may sum to less than 1; the
// rest is one more cell).
// Cells with an expected count below 5 are merged into the rest.
double chi_square_p(std::span<const std::uint64_t> counts, std::span<const double> probabilities,
                    std::uint64_t total);

// Two-sided Kolmogorov–Smirnov against a continuous distribution function. Sorts a copy.
double ks_p(std::vector<double> sample, const std::function<double(double)>& cdf);

// Two-sided exact binomial test (doubling the smaller tail).
double binomial_p(std::uint64_t successes, std::uint64_t trials, double probability);

// Upper Clopper–Pearson confidence limit at 1 − alpha, and the lower one.
double clopper_pearson_upper(std::uint64_t successes, std::uint64_t trials, double alpha);
double clopper_pearson_lower(std::uint64_t successes, std::uint64_t trials, double alpha);

}  // namespace sotto::test
