// Detail: what the releases of a generator share: columns, design, mechanisms, and noise or none.
#pragma once

#include <vector>

#include "sotto/models/synthesis/detail/column_counts.hpp"
#include "sotto/models/synthesis/detail/synthesis_design.hpp"

namespace sotto {

inline constexpr double kMeanAbsoluteNormal = 0.7978845608028654;  // E|Z| of a standard normal

struct SynthesisSetting {
  const CellColumns& columns;
  const SynthesisDesign& design;
  const ColumnCounts& counts;
  const SynthesisMechanisms& mechanisms;
  bool is_private = true;  // false: a run without noise, NOT PRIVATE

  std::vector<double> noised(const LatticeNoise& noise, const std::vector<int128>& sums,
                             Rng& rng) const;
  // Of a count that was noised after it was multiplied by the weight. Next to none counts as a
  // part of a record: marginals are weighed by it.
  double deviation(const LatticeNoise& noise, double weight = 1) const;
};

}  // namespace sotto
