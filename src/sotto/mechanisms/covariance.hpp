// Covariance and correlation of two bounded columns.
//
// What       CovariancePlan; start() gives an accumulator that streams pairs, finish() the release
//            of both figures.
// Guarantee  Costs at most the budget for neighbours under the relation; a unit has at most
//            `contributions` records. Under add_remove the number of records is private and part of
//            the noised vector; else it is public. A pair with a value that is not finite
//            contributes nothing under every relation (and is counted where the number is public).
// Method     u, v ∈ [−1, 1]: the columns clamped, from the middle of their bounds in half-widths.
//            With S whole steps to 1, U = round(S·u), V = round(S·v), each record adds the whole
//            numbers
//              (S, U, V, ⌊UV/S⌉, ⌊U²/S⌉ − S/2, ⌊V²/S⌉ − S/2)   add_remove: ℓ1 ≤ 5S, ℓ2 ≤ √4.5·S
//              (U, V, ⌊UV/S⌉, ⌊U²/S⌉, ⌊V²/S⌉)                  replace_one: ℓ1 ≤ 8S, ℓ2 ≤ √14·S;
//              zero_out: 5S, √5·S
//            (⌊·⌉ towards 0, so that no entry passes its bound; replaced: |ΔU|, |ΔV|, |ΔUV| ≤ 2S,
//            squares ≤ S.) Contributions multiply these by the triangle inequality. Figures are
//            post-processing of the noisy sums.
// Numerics   Sums are exact 128-bit integers. S is a power of two, fine against the noise.
// Reference  docs/math/statistics.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sotto/core/release.hpp"
#include "sotto/core/rng.hpp"
#include "sotto/core/values.hpp"
#include "sotto/mechanisms/lattice_noise.hpp"

namespace sotto {

struct CovarianceOptions {
  Relation relation;
  Bounds first, second;
  Budget budget;
  std::uint64_t contributions = 1;  // records of one unit
};

struct CovarianceFigures {
  Statistic covariance;
  std::optional<Statistic> correlation;  // absent when a variance drowns in the noise
};

class CovarianceAccumulator;

class CovariancePlan {
 public:
  explicit CovariancePlan(const CovarianceOptions& options);

  Event event() const { return noise_.event(); }
  Relation relation() const { return noise_.relation(); }
  std::string describe() const;
  const LatticeNoise& noise() const { return noise_; }

  CovarianceAccumulator start() const;

 private:
  friend class CovarianceAccumulator;
  static std::size_t dimension(Relation relation);
  static Distance distance(const CovarianceOptions& options);  // in units of S steps
  CovarianceFigures decode(const std::vector<int128>& noisy, double records) const;

  CovarianceOptions options_;
  LatticeNoise noise_;
  int128 one_;  // S
};

class CovarianceAccumulator {
 public:
  void add(double x, double y);
  Release<CovarianceFigures> finish(Rng& rng) &&;

 private:
  friend class CovariancePlan;
  explicit CovarianceAccumulator(const CovariancePlan& plan)
      : plan_(plan), sums_(plan.noise().dimension()) {}
  CovariancePlan plan_;
  std::vector<int128> sums_;
  std::uint64_t records_ = 0;
};

}  // namespace sotto
