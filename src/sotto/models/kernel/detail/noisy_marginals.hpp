// Noisy counts and label sums of every level of every column, and what follows from them.
//
// What       One release: for each level of each column the number of its records and, unless there
//            are several classes, the sum of their labels y ∈ [−1, 1]. By post-processing: shares,
//            a scale on which each column is spread out, how much each column says of the label.
// Guarantee  One discrete Gaussian mechanism. A record has one level in each of d columns and adds
//            (1, y) there: ℓ2 ≤ √(2d), √d without labels. Under replace_one two such contributions:
//            two levels of a column give 2(1 + 1), one level at most (y − y′)² ≤ 4, so √2 times as
//            far. A unit with k records: k times as far.
// Method     Counts below one standard deviation of the noise count as 0. The scale is the
//            cumulated square root of the counts, in [0, 1]: it spreads crowded regions without
//            letting empty ones vanish. Categories stand in the order of their shrunken label means
//            (in the declared order for several classes). Importance: the variance of the label
//            that the levels of a column explain, less what noise alone would show.
// Numerics   Counts and labels are integers in steps of 2^−20; noise is exact.
// Reference  docs/math/kernel.md.
#pragma once

#include <cstdint>
#include <vector>

#include "sotto/core/relation.hpp"
#include "sotto/core/release.hpp"
#include "sotto/mechanisms/lattice_noise.hpp"
#include "sotto/models/kernel/detail/binned_rows.hpp"

namespace sotto {

struct ColumnScale {
  std::vector<double> start, width;  // of each level on [0, 1]
  std::vector<double> share;         // of the records, for each level; adds up to 1
  double importance = 0;

  double at(const BinnedColumns::Cell& cell) const {
    return start[cell.level] + width[cell.level] * static_cast<double>(cell.inside);
  }
};

// How often each column is looked at: 0.7·importance^¼ (normalised) + 0.3/d.
std::vector<double> drawing_shares(const std::vector<ColumnScale>& columns);

class MarginalsPlan {
 public:
  // labels: false for several classes.
  MarginalsPlan(const BinnedColumns& columns, Relation relation, std::uint64_t contributions,
                bool labels, double rho);

  Event event() const { return noise_.event(); }
  Relation relation() const { return noise_.relation(); }
  std::string describe() const { return noise_.describe(); }

  // label_of: from the target of the encoder to [−1, 1]; anything else is clamped.
  Release<std::vector<ColumnScale>> run(const BinnedRows& records, double (*label_of)(double),
                                        Rng& rng) const;

 private:
  std::vector<ColumnScale> scales(const std::vector<int128>& noisy) const;

  const BinnedColumns& columns_;
  bool labels_;
  LatticeNoise noise_;
};

}  // namespace sotto
