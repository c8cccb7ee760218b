// Norm mechanisms: pure ε for vectors, noise with density ∝ exp(−ε‖z‖/Δ).
//
// What       Adds to a vector of d numbers noise shaped like the ball of the norm its sensitivity
//            is stated in: ℓ1, ℓ2 or ℓ∞.
// Guarantee  ε-DP for neighbours at distance at most Δ in that norm, for the program: what is
//            released lies on a lattice with exact integer noise. Events: discrete_laplace (ℓ1),
//            pure (ℓ∞), pure and the covering noise (ℓ2).
// Method     ℓ1: independent discrete Laplace. ℓ∞: P(z) ∝ exp(−‖z‖∞/T) on ℤ^d. Because
//            exp(−r/T) ∝ Σ_{R ≥ r} exp(−R/T), z is uniform in the cube {−R..R}^d with
//            P(R) ∝ (2R+1)^d exp(−R/T); such an R is a sum of d+1 geometric draws kept with
//            probability Π_{i=1..d} (2R+1)/(2R+2i), which is e^{−d/(2T)}, about 1.
//            ℓ2: a spherical Laplace vector whose distance to an ideal one is bounded
//            (continuous_noise.hpp), and a thousandth of ε for lattice noise that covers the
//            distance (covering_noise.hpp).
// Numerics   ℓ1, ℓ∞: the query is rounded to the grid first and Δ grows by the rounding (d steps,
//            one step); T is rounded up. ℓ2: query and vector are put on the lattice of the
//            covering noise, whose sensitivity counts both roundings.
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
#include "sotto/mechanisms/continuous_noise.hpp"
#include "sotto/mechanisms/covering_noise.hpp"
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
  double granularity() const;
  double epsilon() const { return epsilon_; }  // at most what was asked for

  // Throws InvalidArgument when a value is not finite or the dimension is another.
  Release<std::vector<double>> run(std::span<const double> query, Rng& rng) const;

 private:
  std::vector<double> run_l2(std::span<const double> query, Rng& rng) const;
  std::vector<int128> noise_l1(Rng& rng) const;
  std::vector<int128> noise_linf(Rng& rng) const;

  Relation relation_;
  Norm norm_;
  std::size_t dimension_;
  double epsilon_;      // in all
  double ideal_ = 0;    // of it, ℓ2: what the spherical law costs
  double sensitivity_;  // ℓ1, ℓ∞: steps; ℓ2: Δ itself
  double granularity_ = 0;
  std::uint64_t scale_ = 0;                 // T, steps; not for ℓ2
  std::optional<DiscreteLaplace> laplace_;  // ℓ1
  std::optional<SphericalLaplace> sphere_;  // ℓ2
  std::optional<CoveringNoise> cover_;      // ℓ2
};

}  // namespace sotto
