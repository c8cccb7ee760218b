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

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "sotto/models/linear/gradient_rows.hpp"

namespace sotto {

class ExactRows final : public GradientRows {
 public:
  // As GradientRows; longer records are scaled down to the norm bound.
  ExactRows(std::size_t features, double norm_bound, double intercept)
      : GradientRows(features, norm_bound, intercept) {}

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

  std::span<const float> row(std::size_t i) const {
    return {rows_.data() + i * dimension_, dimension_};
  }
  // Rows [first, first + count) will not be read soon; gives memory back when they are in a file
  // (row_store.hpp).
  void done(std::size_t first, std::size_t count) const;

  std::vector<int128> weighted_sum(std::span<const double> parameters, std::size_t outputs,
                                   const Slopes& slopes, SlopeGrid grid,
                                   unsigned threads) const override;
  std::vector<int128> second_moments(double share, unsigned threads) const override;
  std::vector<std::uint32_t> private_squares(unsigned threads) const override;

  // Σ x_i x_iᵀ (upper triangle, row by row) in units of 2^−32 and Σ y_i x_i with y clamped to [−1,
  // 1] and truncated to multiples of 2^−16, in the same units.
  struct Moments {
    std::vector<int128> second, cross;
    static constexpr double unit() { return kSecondUnit; }
  };
  // chosen: which rows count, a function of the row alone; by default all.
  using Choice = std::function<bool(std::span<const float> row)>;
  Moments moments(unsigned threads, const Choice& chosen = {}) const;

 private:
  float write(std::span<const float> features, float target, float* row) const;

  RowStore<float> rows_;
};

}  // namespace sotto
