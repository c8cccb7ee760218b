// Rows on a dyadic grid inside the unit ball, so that sums over records are exact and their
// sensitivity holds in floating point.
//
// What       Encoded records (features of norm ≤ R, plus an intercept coordinate) scaled into the
//            unit ball and truncated to multiples of 2^−16. Sums of slope × row over all records
//            come out exactly, whatever the order or the threads.
// Guarantee  ‖x‖₂ ≤ 1 exactly for every stored row, hence ‖Σ_i s_i x_i‖ moves by at most max|s|
//            between add_remove neighbours and by twice that between replace_one neighbours, as a
//            statement about the program.
// Method     A double sum of multiples of u whose absolute values add up to at most 2^53 u is exact
//            in any order, with or without fused operations. Parameters are multiples of
//            2^−kParameterBits with norm ≤ kMaximalNorm, slopes multiples of
//            2^−slope_bits of norm ≤ slope_norm; then every margin and every block sum is such a
//            sum, and a slope depends on its own record only. Block sums are added as 128-bit
//            integers. Rows beyond a fixed size wait in a temporary file
//            (row_store.hpp): memory does not grow with their number, nor does any sum depend on
//            it.
// Numerics   Truncation is towards zero: norms never grow. Resolution 2^−16 of the unit ball, far
//            below any useful noise.
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

class ExactRows {
 public:
  static constexpr int kRowBits = 16, kParameterBits = 24, kMaximalSlopeBits = 20;
  static constexpr double kMaximalNorm = 4096;     // 2^12: 12 + 16 + 24 = 52 bits for a margin
  static constexpr std::size_t kBlockRows = 4096;  // 2^12: 12 + 16 + 20 = 48 bits for a block sum

  // features: coordinates of a record before the intercept is appended; norm_bound: the largest ℓ2
  // norm a record may have (longer ones are scaled down to it); intercept: value of the appended
  // coordinate, 0 for none.
  ExactRows(std::size_t features, double norm_bound, double intercept);

  // Adds a record. A record with a non-finite coordinate or target becomes the null record (all
  // zero): it contributes nothing.
  void add(std::span<const float> features, float target);
  // Adds so many records at once, by all threads: read(i, features) writes the features of the i-th
  // and returns its target.
  using Reader = std::function<float(std::size_t i, std::span<float> features)>;
  void add_all(std::size_t count, const Reader& read, unsigned threads);
  // Adds all rows of another set with the same encoding.
  void append(const ExactRows& other);
  void reserve(std::size_t rows);

  std::size_t size() const { return targets_.size(); }
  std::size_t dimension() const { return dimension_; }  // with the intercept
  double norm_bound() const { return norm_bound_; }
  double scale() const { return scale_; }  // encoded feature → unit ball
  double intercept() const { return intercept_; }
  std::span<const float> row(std::size_t i) const {
    return {rows_.data() + i * dimension_, dimension_};
  }
  float target(std::size_t i) const { return targets_.data()[i]; }
  std::span<const float> targets(std::size_t first, std::size_t count) const {
    return {targets_.data() + first, count};
  }
  // Rows [first, first + count) will not be read soon; gives memory back when they are in a file
  // (row_store.hpp).
  void done(std::size_t first, std::size_t count) const;

  // How the slopes of one record are bounded and rounded before they multiply its row.
  struct SlopeGrid {
    double norm = 1;  // ℓ2 norm over the outputs of one record, at most 2
    int bits = kMaximalSlopeBits;
    double unit() const { return std::ldexp(1.0, -(bits + kRowBits)); }  // lattice of the sums
  };

  // slopes(margins, first_row, rows, out): out[k·rows + i] = slope of output k for the i-th row of
  // the block, computed from margins[k·rows + i], k = 0 …, and that record alone. Returns Σ_i
  // slope_i ⊗ x_i as integers in units of grid.unit(), dimension() of them per output, after each
  // record's slopes were clipped to grid.norm and truncated to the grid.
  using Slopes = std::function<void(std::span<const double> margins, std::size_t first_row,
                                    std::size_t rows, std::span<double> out)>;
  std::vector<int128> weighted_sum(std::span<const double> parameters, std::size_t outputs,
                                   const Slopes& slopes, SlopeGrid grid, unsigned threads) const;

  // Σ x_i x_iᵀ (upper triangle, row by row) in units of 2^−32 and Σ y_i x_i with y clamped to [−1,
  // 1] and truncated to multiples of 2^−16, in the same units.
  struct Moments {
    std::vector<int128> second, cross;
    static constexpr double unit() { return 0x1p-32; }
  };
  // chosen: which rows count, a function of the row alone; by default all.
  using Choice = std::function<bool(std::span<const float> row)>;
  Moments moments(unsigned threads, const Choice& chosen = {}) const;

  // The nearest admissible parameters: projected to norm kMaximalNorm (per output) and rounded to
  // the grid.
  static void admit(std::span<double> parameters, std::size_t outputs);

 private:
  float write(std::span<const float> features, float target, float* row) const;

  std::size_t features_, dimension_;
  double norm_bound_, intercept_, scale_;
  RowStore rows_, targets_;
};

}  // namespace sotto
