// Histogram over categories nobody declared: only those common enough to hide one record are
// released.
//
// What       Counts every category that occurs, adds discrete Laplace noise, and keeps those whose
//            noisy count reaches a threshold τ.
// Guarantee  (ε, δ)-DP under each relation, one record in one category, for a unit with at most c
//            records (`contributions`). Event: approximate(ε, δ).
// Method     Noise scale Δ/ε with Δ = c (add_remove, zero_out) or 2c (replace_one). A category that
//            occurs in one data set and not in its neighbour has at most c records, and there are
//            at most c of them: each passes with probability P(c + Z ≥ τ) ≤ δ/c, so any does with
//            at most δ. All others differ as in a histogram over declared categories [KKMN09],
//            [BNS16]. With δ₁ for those of one data set and δ₂ for those of the other, outputs
//            without any of them have probabilities (1 − δ₁)p and (1 − δ₂)p′, p ≤ e^ε·p′, and the
//            hockey-stick divergence is at most δ₁ + (δ₂ − δ₁)₊ ≤ δ.
// Numerics   τ = c + ⌈b(ln(c/δ) − ln(1+e^{−1/b}))⌉ + 1, the last step covering the rounding of the
//            logarithms.
//            A category is the record's text with bytes that are not UTF-8 spelled out
//            (core/text.hpp), so that every result can be written.
// Not        replayable on neighbours: the set of noised cells itself depends on the data; that is
//            what δ pays for.
// Reference  [KKMN09], [BNS16]; docs/math/statistics.md.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "sotto/core/release.hpp"
#include "sotto/mechanisms/counts.hpp"

namespace sotto {

class StabilityHistogramAccumulator;

class StabilityHistogramPlan {
 public:
  StabilityHistogramPlan(Relation relation, Epsilon epsilon, Delta delta,
                         std::uint64_t contributions = 1);

  Event event() const { return ApproximateEvent{epsilon_, delta_}; }
  Relation relation() const { return noise_.relation(); }
  std::string describe() const;
  double threshold() const {
    return static_cast<double>(threshold_);
  }  // τ: smaller noisy counts are dropped
  const LatticeNoise& noise() const { return noise_; }

  StabilityHistogramAccumulator start() const;
  // counts: every category that occurs, each at least once. The result is sorted by category.
  Release<Histogram> run(const std::map<std::string, std::uint64_t, std::less<>>& counts,
                         Rng& rng) const;

 private:
  double epsilon_, delta_;
  LatticeNoise noise_;
  std::int64_t threshold_;
};

class StabilityHistogramAccumulator {
 public:
  void add(std::string_view category);
  void merge(const StabilityHistogramAccumulator& other);
  Release<Histogram> finish(Rng& rng) && { return plan_.run(counts_, rng); }

 private:
  friend class StabilityHistogramPlan;
  explicit StabilityHistogramAccumulator(const StabilityHistogramPlan& plan) : plan_(plan) {}
  StabilityHistogramPlan plan_;
  std::map<std::string, std::uint64_t, std::less<>> counts_;
};

}  // namespace sotto
