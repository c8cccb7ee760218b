// A numeric column on an integer grid: declared bounds in, bounded whole numbers out.
//
// What       Maps a cell to its distance, in steps, from the middle of the bounds: y ∈ [−H, H]; or
//            to its own grid point ∈ [L, U].
// Guarantee  The result is in range for every double. NaN and infinities never pass: they are
//            refused by record number, or replaced by the middle of the bounds when the policy says
//            so (a public constant, so sensitivities hold).
// Method     Clamp to the bounds, then ⌊x/g + ½⌋ (monotone), hence L = grid(lower) ≤ grid(x) ≤
//            grid(upper) = U.
// Numerics   Exact; the middle is ⌊(L+U)/2⌋ and H = U − middle (the larger half).
// Reference  docs/math/statistics.md.
#pragma once

#include <cstdint>

#include "sotto/core/rng.hpp"
#include "sotto/core/values.hpp"

namespace sotto {

// What to do with a NaN or an infinity. Under zero_out the statistics do not ask: it is the null
// record, which contributes nothing.
enum class NonFinite {
  refuse,    // DataError that names the record's number
  midpoint,  // count it as the middle of the bounds
};

class GridColumn {
 public:
  GridColumn(const Bounds& bounds, double granularity, NonFinite policy);

  std::int64_t lower() const { return lower_; }
  std::int64_t upper() const { return upper_; }
  std::int64_t middle() const { return middle_; }
  std::int64_t half_width() const { return upper_ - middle_; }  // H
  double granularity() const { return granularity_; }
  const Bounds& bounds() const { return bounds_; }

  // record: its number from 1 on, for the error message only.
  std::int64_t steps(double x, std::uint64_t record) const;
  std::int64_t centred(double x, std::uint64_t record) const { return steps(x, record) - middle_; }

 private:
  Bounds bounds_;
  double granularity_, steps_per_unit_;
  NonFinite policy_;
  std::int64_t lower_, upper_, middle_;
};

}  // namespace sotto
