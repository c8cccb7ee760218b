// Detail: a smooth density between two bounds, from noisy counts of equal parts.
//
// What       The log-density θ that minimises Σ (n·p_i(θ) − y_i)²/σ² + λ ∫ θ'''², p_i the mass of
//            part i [Sil82]. What is not penalised is a bell, cut off at the bounds, and its
//            limits: a slope, and what lies anywhere. Then back towards the counts by as much as
//            noise does not explain of what is left between them [JS61].
// Guarantee  Post-processing of released counts.
// Numerics   Levenberg and Marquardt's steps on a grid of at least kPlaces; each one that is taken
//            lowers the sum. Masses are not negative and add up to n.
// Reference  docs/math/synthesis.md.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace sotto {

struct FittedDensity {
  std::vector<double> parts;   // counts, smoothed
  std::vector<double> places;  // shares of equal places, as many in each part; none is 0
  double deviation = 0;        // of a part, about

  double at(double place) const;        // between 0 and 1; up to a factor
  double mass(std::size_t part) const;  // the smooth one, of a part
};

inline constexpr std::size_t kMostParts = 64;  // beyond them counts say enough by themselves

// counts: of at least one and at most kMostParts parts; deviation, total > 0.
FittedDensity fitted_density(std::span<const double> counts, double deviation, double total);

// The nearest counts that are not negative and add up to the total, those of greater variance
// moving more: Σ (x − y)²/variance is least.
std::vector<double> reconciled(std::span<const double> counts, std::span<const double> variances,
                               double total);

}  // namespace sotto
