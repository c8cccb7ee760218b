// The records of a descent: feature rows one behind the other, and exact sums of slope × row.
//
// What       FeatureRows: levels, leaves and waves of all records, and the sums that they are
//            centred by. KernelRows, once these are released: weighted_sum(), Σ_i s_i ⊗ x_i over
//            all records, s_i the slopes of record i and x_i its row.
// Guarantee  ‖x_i‖ ≤ 1 and ‖s_i‖ ≤ 1, hence adding or removing a record moves the sum by at most 1
//            in ℓ2, that is 2^36 steps, as integers and not only on paper.
// Method     A slope is truncated to steps of 2^−20 for one-hot parts, which OneHotBlock sums, and
//            to steps of 2^−14 for waves, which are multiples of 2^−15: none of it grows. Margins
//            are computed in floating point from one record at a time: a slope depends on its own
//            record only, rounding included.
// Numerics   Steps of 2^−36; sums of 2^27 records fit 64 bits and are added as 128-bit integers.
// Reference  docs/math/kernel.md.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "sotto/models/kernel/detail/binned_rows.hpp"
#include "sotto/models/kernel/detail/feature_map.hpp"

namespace sotto {

// Two bytes for each column and wave, one for each tree.
class FeatureRows {
 public:
  FeatureRows(const BinnedRows& records, const FeatureDesign& design);

  std::vector<int128> wave_sums() const;    // steps of 2^−15; a record's pair has length ≤ 1
  std::vector<int128> leaf_counts() const;  // tree by tree; a record is in one leaf of each

 private:
  friend class KernelRows;
  std::size_t columns_, trees_, waves_;
  std::vector<std::uint16_t> main_;
  std::vector<std::uint8_t> leaves_;
  std::vector<std::int16_t> wave_;
  std::size_t size_;
};

class KernelRows {
 public:
  static constexpr double kUnit = 0x1p-36;

  // map: of the design that the rows were read with, with means and shares. before: margins from
  // earlier descents, one for each output of each record, or none. All must outlive the rows.
  KernelRows(FeatureRows rows, const FeatureMap& map, const BinnedRows& records,
             std::span<const float> before = {});

  std::size_t size() const { return rows_.size_; }

  // slopes(margins, targets, out): of some records, one behind the other, for each output; clipped
  // to norm 1 afterwards. What one record gets must depend on no other.
  using Slopes = std::function<void(std::span<const double> margins, std::span<const float> targets,
                                    std::span<double> out)>;
  // map().dimension() numbers for each output.
  std::vector<int128> weighted_sum(const std::vector<std::vector<double>>& parameters,
                                   const Slopes& slopes) const;
  // Σ f(margins, target) with 0 ≤ f ≤ 1, in steps of 2^−20, each rounded down.
  using Figure = std::function<double(std::span<const double> margins, float target)>;
  int128 sum_of(const std::vector<std::vector<double>>& parameters, const Figure& figure) const;
  // Of all outputs of all records.
  std::vector<float> margins(const std::vector<std::vector<double>>& parameters) const;

 private:
  struct Prepared;
  // Of the records from `first` on, record by record.
  void margins(const Prepared& prepared, std::size_t first, std::span<double> out) const;

  FeatureRows rows_;
  const FeatureMap* map_;
  const BinnedRows* records_;
  std::span<const float> before_;
  std::vector<float> main_factors_, leaf_factors_;
};

}  // namespace sotto
