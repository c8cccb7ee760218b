// Private estimate of a column's bounds, for when nobody can declare them.
//
// What       A noisy histogram of the sign and the binary exponent of each value; the bounds are
//            the outermost bins that are surely not empty.
// Guarantee  Costs at most the budget for neighbours under the relation: it is a histogram over
//            fixed, public bins (counts.hpp); the rest is post-processing.
// Method     Bins ±[2^k, 2^{k+1}) for k in a public range, and one for smaller magnitudes; larger
//            ones go to the last bin. A bin counts as occupied when its noisy count exceeds t,
//            chosen so that an empty bin passes with probability at most `false_alarm` in all.
// Numerics   frexp is exact; non-finite values are refused or ignored by policy.
// Reference  [WZLDSG20]; docs/math/statistics.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sotto/core/release.hpp"
#include "sotto/mechanisms/counts.hpp"
#include "sotto/mechanisms/grid_column.hpp"

namespace sotto {

struct BoundsOptions {
  Relation relation;
  Budget budget;
  int smallest_exponent = -20,
      largest_exponent = 40;  // magnitudes told apart: 2^smallest … 2^(largest+1)
  double false_alarm = 1e-6;
  NonFinite non_finite = NonFinite::refuse;  // midpoint: such a record counts in no bin
};

struct BoundsEstimate {
  std::optional<Bounds> bounds;  // empty when no bin is surely occupied
  double threshold = 0;          // the noisy count above which a bin counts as occupied
  NoiseInfo noise;
};

class BoundsAccumulator;

class BoundsPlan {
 public:
  explicit BoundsPlan(const BoundsOptions& options);

  Event event() const { return noise_.event(); }
  Relation relation() const { return noise_.relation(); }
  std::string describe() const;
  double threshold() const { return threshold_; }

  BoundsAccumulator start() const;
  Release<BoundsEstimate> run(std::span<const double> records, Rng& rng) const;

 private:
  friend class BoundsAccumulator;
  std::size_t bin(double x) const;
  Bounds edges(std::size_t bin) const;
  Release<BoundsEstimate> finish(std::span<const std::uint64_t> counts, Rng& rng) const;

  BoundsOptions options_;
  std::size_t magnitudes_;
  LatticeNoise noise_;
  double threshold_;
};

class BoundsAccumulator {
 public:
  void add(double x);
  void merge(const BoundsAccumulator& other);
  Release<BoundsEstimate> finish(Rng& rng) && { return plan_.finish(counts_, rng); }

 private:
  friend class BoundsPlan;
  explicit BoundsAccumulator(const BoundsPlan& plan)
      : plan_(plan), counts_(2 * plan.magnitudes_ + 1) {}
  BoundsPlan plan_;
  std::vector<std::uint64_t> counts_;
  std::uint64_t records_ = 0;
};

}  // namespace sotto
