// Records as gradient descent needs them: exact sums of slope × row over all of them.
//
// What       The targets, the encoding (norm bound, intercept, scale) and two sums over records: of
//            slopes times rows, and of outer products of rows. Dense rows (exact_rows.hpp) and rows
//            of small codes (detail/coded_rows.hpp) are the two ways to keep them.
// Guarantee  ‖x‖₂ ≤ 1 exactly for every row x, a function of its own record alone; sums are exact
//            integers, whatever the order or the threads.
// Method     As the two say.
// Numerics   Rows are multiples of 2^−16, parameters of 2^−24 and of norm ≤ 2^12, slopes of
//            2^−bits: margins have at most 52 bits and are exact in double precision.
// Reference  docs/math/linear-models.md, section "Exact sums".
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "sotto/core/rng.hpp"
#include "sotto/models/linear/row_store.hpp"

namespace sotto {

class GradientRows {
 public:
  static constexpr int kRowBits = 16, kParameterBits = 24, kMaximalSlopeBits = 20;
  static constexpr double kMaximalNorm = 4096;     // 2^12: 12 + 16 + 24 = 52 bits for a margin
  static constexpr std::size_t kBlockRows = 4096;  // 2^12: 12 + 16 + 22 = 50 bits for a block sum
  static constexpr double kSecondUnit = 0x1p-32;   // of second moments

  // features: coordinates of a record before the intercept is appended; norm_bound: the largest ℓ2
  // norm that a record has; intercept: value of the appended coordinate, 0 for none.
  GradientRows(std::size_t features, double norm_bound, double intercept);
  GradientRows(GradientRows&&) = default;
  GradientRows& operator=(GradientRows&&) = default;
  virtual ~GradientRows() = default;

  std::size_t size() const { return targets_.size(); }
  std::size_t dimension() const { return dimension_; }  // with the intercept
  double norm_bound() const { return norm_bound_; }
  double scale() const { return scale_; }  // encoded feature → unit ball
  double intercept() const { return intercept_; }
  float target(std::size_t i) const { return targets_.data()[i]; }
  std::span<const float> targets(std::size_t first, std::size_t count) const {
    return {targets_.data() + first, count};
  }

  // How the slopes of one record are bounded and rounded before they multiply its row.
  struct SlopeGrid {
    double norm = 1;  // ℓ2 norm over the outputs of one record, at most 4
    int bits = kMaximalSlopeBits;
    double unit() const { return std::ldexp(1.0, -(bits + kRowBits)); }  // lattice of the sums
  };

  // slopes(margins, first_row, rows, out): out[k·rows + i] = slope of output k for the i-th row of
  // the block, computed from margins[k·rows + i], k = 0 …, and that record alone. Returns Σ_i
  // slope_i ⊗ x_i as integers in units of grid.unit(), dimension() of them per output, after each
  // record's slopes were clipped to grid.norm and truncated to the grid.
  using Slopes = std::function<void(std::span<const double> margins, std::size_t first_row,
                                    std::size_t rows, std::span<double> out)>;
  virtual std::vector<int128> weighted_sum(std::span<const double> parameters, std::size_t outputs,
                                           const Slopes& slopes, SlopeGrid grid,
                                           unsigned threads) const = 0;

  // Σ x xᵀ (upper triangle, row by row) in units of kSecondUnit over about this share of the
  // records: whether a record counts is a function of the record alone. Rows may be rounded further
  // for it, as long as their norm stays ≤ 1.
  virtual std::vector<int128> second_moments(double share, unsigned threads) const = 0;

  // ‖x‖² of every record in units of 2^−16, rounded up: at most 2^16. PRIVATE.
  static constexpr int kSquareBits = 16;
  virtual std::vector<std::uint32_t> private_squares(unsigned threads) const = 0;

  // The nearest admissible parameters: projected to norm kMaximalNorm (per output) and rounded to
  // the grid.
  static void admit(std::span<double> parameters, std::size_t outputs);

  // Clips the slopes of every record (out[k·rows + i]) to the norm and truncates them to whole
  // units.
  static void bound_slopes(std::span<double> slopes, std::size_t outputs, SlopeGrid grid);

 protected:
  // Whether a record with this hash is among the share.
  static bool is_among(std::uint64_t hash, double share) {
    return static_cast<double>(hash >> 11) * 0x1p-53 < share;
  }

  std::size_t features_, dimension_;
  double norm_bound_, intercept_, scale_;
  RowStore<float> targets_;
};

}  // namespace sotto
