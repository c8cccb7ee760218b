// Clip factors: from the norms of a record's gradient to the number it is multiplied with.
//
// What       flat        c = min(1, C/‖g‖)
//            per_layer   the same for the parameters of each layer with its own threshold C_l; Σ_l
//                        C_l² = C², equal shares by default
//            normalised  c = C/(‖g‖ + γ), no threshold to tune [BWZK22]
//            flat, with a threshold for each record that is at most C
// Guarantee  ‖c·g‖ ≤ C for every record, also for ones that are not finite: they get c = 0 and are
//            taken out of the sum. So Σ_i c_i·g_i has ℓ2-sensitivity C under add_remove and
//            zero_out, 2C under replace_one.
// Method     C here is the threshold divided by 1 + kRoundingAllowance, so that the sum *as
//            computed* moves by at most the stated C: the allowance pays for rounding in products
//            and sums.
// Numerics   Factors in double, rounded towards zero to float. docs/math/per-sample-clipping.md,
//            section "Rounding".
// Reference  [ACGMMTZ16], [BWZK22]; docs/math/per-sample-clipping.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sotto::deep {

enum class ClipRule { flat, per_layer, normalised };

struct ClipOptions {
  ClipRule rule = ClipRule::flat;
  double norm = 1;          // C
  double stability = 0.01;  // γ of normalised
  bool zero_above = false;  // of flat: a gradient beyond C counts for nothing instead of C
  std::vector<double> layer_norms =
      {};  // of per_layer; empty: C/√L each, else Σ C_l² ≤ C² is required
  std::size_t memory = std::size_t{256} << 20;  // bytes for gradients written out record by record
  // Σ c_i·g_i is added up in double: slower, and rounding is proved to be small
  // (ClippedSum::rounding_is_bounded).
  bool double_sums = false;
  // The most rows of a batch, where batches differ in size: a public number, by which decisions are
  // taken. 0: batches have one public size.
  std::int64_t rows = 0;
};

// One hundredth: two orders of magnitude above what rounding was measured to do.
inline constexpr double kRoundingAllowance = 0.01;

struct ClipFactors {
  std::vector<std::vector<float>> factors;  // for each group of parameters, for each record
  std::vector<std::int64_t> dropped;        // records that are not finite
  std::int64_t unclipped = 0;               // records whose whole gradient has norm ≤ C (private)
};

class Clipper {
 public:
  // parameters: their names; the layer of "block.fc1.weight" is "block.fc1".
  Clipper(ClipOptions options, const std::vector<std::string>& parameters);

  std::size_t groups() const { return thresholds_.size(); }
  std::size_t group_of(std::size_t parameter) const { return group_[parameter]; }
  const std::vector<std::string>& layers() const { return layers_; }
  const ClipOptions& options() const { return options_; }
  void set_rows(std::int64_t rows) { options_.rows = rows; }
  void set_norm(double norm);  // an adapted threshold, from released values only

  // squares[k][i]: squared norm of record i in parameter k. empty[i]: row i is no record; its
  // factor is 0. None: all are records. row_norms[i]: the threshold of record i, instead of C and
  // at most that; flat only.
  ClipFactors factors(const std::vector<const std::vector<double>*>& squares, std::size_t records,
                      const std::vector<bool>& empty = {},
                      const std::vector<double>& row_norms = {}) const;

 private:
  ClipOptions options_;
  std::vector<std::size_t> group_;
  std::vector<std::string> layers_;
  std::vector<double> thresholds_;  // by layer, already divided by the allowance
};

}  // namespace sotto::deep
