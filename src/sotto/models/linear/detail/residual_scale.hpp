// Detail: how large the gradients of the squared loss are, so that their noise need not be made for
// the largest that the bounds allow.
//
// What       ResidualScale: a noisy mean of the target, around which descent starts, and looks at
//            the data: noisy counts of records by the norm of their gradient, from which a clip C
//            is taken.
// Guarantee  A compose of one discrete Gaussian mechanism for the mean and one for each look, as
//            event() says. Trusts the caller for squares() of rows, as `private_squares` gives
//            them.
// Method     Mean: Σ y with |y| ≤ 1 moves by at most 1, by 2 if a record is replaced. A look: a
//            record is counted in one of kBins cells, by its own gradient norm |⟨θ, x⟩ − y|·‖x‖ at
//            parameters that were released before; the counts move by 1 in ℓ2, by √2 if a record is
//            replaced. Null records (x = 0) are in neither. Units with k records: k times that.
//            Clipping the mean gradient at C leaves out E(v − C)⁺ of it at most, v being the norm
//            of a record's gradient, and noise of standard deviation Cν on each of d coordinates
//            comes to Cν√d: their sum is least where P(v > C) = ν√d. C is where the noisy share of
//            longer gradients passes kTailOfNoise·ν·(√d + kTailRoom), at least 0.001 and at most a
//            fifth; without such a place it is 1. ν: noise of a coordinate of the mean gradient at
//            C = 1.
// Numerics   Counts are whole numbers of 2^−24; targets are truncated to multiples of 2^−24.
// Reference  docs/math/linear-models.md, section "The scale of a regression".
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sotto/core/event.hpp"
#include "sotto/core/relation.hpp"
#include "sotto/core/rng.hpp"
#include "sotto/mechanisms/lattice_noise.hpp"
#include "sotto/models/linear/gradient_rows.hpp"

namespace sotto {

class ResidualScale {
 public:
  static constexpr double kMeanShare = 0.03, kLookShare = 0.04;  // of ρ
  static constexpr std::size_t kBins = 8;                        // up to 2^−7, …, 2^−1, above

  // noise: of one coordinate of one mean gradient, were the whole ρ spent on it.
  ResidualScale(Relation relation, std::uint64_t rows, std::size_t dimension, double rho,
                std::uint64_t contributions, std::uint64_t looks, double noise);

  Event event() const;
  static double share(std::uint64_t looks) {
    return kMeanShare + kLookShare * static_cast<double>(looks);
  }

  // The mean of the target, nearer to 0 where noise is large.
  double mean(const GradientRows& rows, std::span<const std::uint32_t> squares, Rng& rng) const;
  // A clip for the norms of gradients, at most 1.
  double clip(const GradientRows& rows, std::span<const std::uint32_t> squares,
              std::span<const double> parameters, Rng& rng, unsigned threads) const;
  // What clip() makes of the released shares of the cells.
  double clip_of(std::span<const double> shares) const;

 private:
  double rows_, tail_;
  std::uint64_t looks_;
  LatticeNoise mean_noise_, count_noise_;
};

// Slopes of the squared loss, over C, of at most limits[i] in absolute value: no gradient is longer
// than 1. Refers to all three until it is gone.
GradientRows::Slopes clipped_slopes(const GradientRows& rows, std::span<const float> limits,
                                    const double& clip);
// The largest slope of each record, a multiple of 2^−bits: slope²·‖x‖² ≤ 1, checked in whole
// numbers, and at most kLongestSlope; 0 for null records. PRIVATE.
inline constexpr double kLongestSlope = 4;
std::vector<float> private_limits(std::span<const std::uint32_t> squares, int bits);

}  // namespace sotto
