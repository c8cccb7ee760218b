// Norm mechanisms: pure ε for vectors, noise with density ∝ exp(−ε‖z‖/Δ).
//
// What       Adds to a vector of d numbers noise shaped like the ball of the norm its sensitivity is stated in: ℓ1, ℓ2 or ℓ∞.
// Guarantee  ε-DP for neighbours at distance at most Δ in that norm. ℓ1 and ℓ∞ hold for the program: exact integer noise on the safe grid.
//            ℓ2 holds for the ideal law; see Not. Events: discrete_laplace (ℓ1), pure (ℓ2, ℓ∞).
// Method     ℓ1: independent discrete Laplace. ℓ∞: P(z) ∝ exp(−‖z‖∞/T) on ℤ^d. Because exp(−r/T) ∝ Σ_{R ≥ r} exp(−R/T), z is uniform in the
//            cube {−R..R}^d with P(R) ∝ (2R+1)^d exp(−R/T); such an R is a sum of d+1 geometric draws kept with probability
//            Π_{i=1..d} (2R+1)/(2R+2i), which is e^{−d/(2T)}, about 1.
//            ℓ2: radius Gamma(d, T) as a sum of d geometric draws on a 2^20 times finer grid, direction from exact discrete Gaussians.
// Numerics   The query is rounded to the grid first and Δ grows by the rounding (one step in ℓ∞, √d steps in ℓ2); T is rounded up.
// Not        exact in ℓ2: radius times direction is formed in extended precision and rounded to a grid of 2^-20 of T (hence the coarse grid:
//            each point collects ≥ 2^20 values in each coordinate). The output still lies on the grid whatever the input is, so low bits tell
//            nothing, but point probabilities are right only to a relative error of about 2^-19 in the bulk, unproven in the far
//            tail. Use ℓ1 or ℓ∞, or Gaussian noise, where the claim must be a theorem about the program.
// Reference  [HT10], [CMS11] for ℓ2, [DMNS06] for ℓ1; docs/math/additive-mechanisms.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sotto/core/release.hpp"
#include "sotto/core/rng.hpp"
#include "sotto/core/values.hpp"
#include "sotto/noise/discrete_gaussian.hpp"
#include "sotto/noise/discrete_laplace.hpp"

namespace sotto {

class NormMechanism {
 public:
  // dimension ≤ 2^20.
  NormMechanism(Relation relation, const Sensitivity& sensitivity, Epsilon epsilon,
                std::size_t dimension);

  Event event() const;
  Relation relation() const { return relation_; }
  std::string describe() const;
  double granularity() const { return granularity_; }
  double epsilon() const { return epsilon_; }  // at most what was asked for

  // Throws InvalidArgument when a value is not finite or the dimension is another.
  Release<std::vector<double>> run(std::span<const double> query, Rng& rng) const;

 private:
  std::vector<int128> noise_l1(Rng& rng) const;
  std::vector<int128> noise_l2(Rng& rng) const;
  std::vector<int128> noise_linf(Rng& rng) const;

  Relation relation_;
  Norm norm_;
  std::size_t dimension_;
  double granularity_;
  double sensitivity_;   // steps
  std::uint64_t scale_;  // T, steps
  double epsilon_;
  std::optional<DiscreteLaplace> laplace_;    // ℓ1
  std::optional<DiscreteGaussian> gaussian_;  // ℓ2, for the direction
};

}  // namespace sotto
