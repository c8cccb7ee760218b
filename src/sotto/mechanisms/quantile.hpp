// Quantile of a bounded column (median: probability 0.5).
//
// What       One point of a grid over the declared bounds, close in rank to the p-quantile.
// Guarantee  ε-DP of ε-bounded range (event: exponential) for neighbours under each relation. Holds
//            for the program: see Numerics.
// Method     Exponential mechanism with base measure uniform on the grid and score −s(o), s(o) =
//            max(a − pN, b − (1−p)N, 0), where a (b) records lie below (above) o and N in all: 0
//            exactly at a p-quantile. A record added moves a − pN by 1−p or −p, hence
//            Δ = max(p, 1−p) for add_remove and zero_out (a null record, i.e. a value that is not
//            finite, is not counted, whatever the policy); replaced: Δ = 1. Points between two
//            neighbouring records share a score, so one draws a segment with weight
//            length·exp(−ε₀s/(2Δ)) and a uniform point in it.
// Numerics   Scores are whole multiples of 2^-32 (p is rounded to that). A segment is proposed
//            uniformly and kept with probability exp(−x), x on a 2^-40 grid within 2^-40 of
//            ε₀s/(2Δ) − ln(length) + const: every weight is right to a factor e^{±2^-40}, which
//            costs at most 4·2^-40; ε₀ is that much below ε. s is capped (1-Lipschitz) at 2^20
//            units of the exponent.
//            The accumulator holds the column (8 bytes a record).
// Reference  [MT07], [Smi11]; docs/math/statistics.md.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sotto/core/release.hpp"
#include "sotto/mechanisms/budget.hpp"
#include "sotto/mechanisms/grid_column.hpp"
#include "sotto/mechanisms/noise_info.hpp"

namespace sotto {

struct QuantileOptions {
  Relation relation;
  Bounds bounds;
  double probability = 0.5;
  Budget budget;
  NonFinite non_finite = NonFinite::refuse;
  double granularity = 0;           // a power of two; 0: about 2^-20 of the width of the bounds
  std::uint64_t contributions = 1;  // records of one unit: Δ times this, at most 2^20
};

class QuantileAccumulator;

class QuantilePlan {
 public:
  explicit QuantilePlan(const QuantileOptions& options);

  Event event() const;
  Relation relation() const { return relation_; }
  std::string describe() const;
  // The rank of what is released is at most this far from p·N, but for a probability of `beta`: a
  // point of score s has at most e^(−s/T) of the weight of one with score 0, of which there is at
  // least one, and there are as many points as the grid has.
  double ranks_off(double beta) const;

  QuantileAccumulator start() const;
  Release<Statistic> run(std::span<const double> records, Rng& rng) const;

 private:
  friend class QuantileAccumulator;
  Release<Statistic> finish(std::vector<std::int64_t> points, Rng& rng) const;
  // s in units of 2^-32, capped, for `below` and `above` of `total` records.
  int128 score(std::uint64_t below, std::uint64_t above, std::uint64_t total) const;

  Relation relation_;
  GridColumn column_;
  std::int64_t probability_;  // p·2^32
  std::int64_t sensitivity_;  // of the score, units of 2^-32
  std::int64_t scale_;        // T: the weight falls by e per T units of score
  double epsilon_;            // what the event says
};

class QuantileAccumulator {
 public:
  void add(double x) {
    if (plan_.relation() == Relation::zero_out && !std::isfinite(x)) return;
    points_.push_back(plan_.column_.steps(x, points_.size() + 1));
  }
  void merge(const QuantileAccumulator& other) {
    points_.insert(points_.end(), other.points_.begin(), other.points_.end());
  }
  Release<Statistic> finish(Rng& rng) && { return plan_.finish(std::move(points_), rng); }

 private:
  friend class QuantilePlan;
  explicit QuantileAccumulator(const QuantilePlan& plan) : plan_(plan) {}
  QuantilePlan plan_;
  std::vector<std::int64_t> points_;
};

}  // namespace sotto
