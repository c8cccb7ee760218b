// Piecewise linear functions of one number: what lets a linear model bend along a column.
//
// What       A value within declared bounds becomes 2·kHats numbers: hat functions with evenly
//            spaced peaks on a linear and on a logarithmic scale.
//            Linear combinations of the hats of one scale are all continuous functions with kinks
//            at its peaks.
// Guarantee  A pure function of the bounds. The hats of one scale are ≥ 0, at most two are not 0,
//            and they add up to kHatHeight: the squares of all add up to at most 2·kHatHeight² ≤ 1
//            + 2⁻⁵⁰, in the real numbers behind the doubles.
// Method     Linear scale: u = (t + 1)/2 of t ∈ [−1, 1]. Logarithmic scale: sign(t − c)·ln(1 +
//            1000·|t − c|/e), mapped to [0, 1], where c is the place of the number 0, or of the
//            bound nearest to it, and e the distance from c to the farther bound: columns such as
//            incomes crowd there.
// Reference  docs/math/linear-models.md, section "Bent columns".
#pragma once

#include <cstddef>
#include <span>

#include "sotto/core/values.hpp"

namespace sotto {

class HatBasis {
 public:
  static constexpr std::size_t kHats = 8;                   // of each scale
  static constexpr std::size_t kWidth = 2 * kHats;          // numbers in all
  static constexpr double kHatHeight = 0.7071067811865475;  // rounded down: 2·kHatHeight² ≤ 1

  explicit HatBasis(Bounds bounds);

  // t: the value, with the bounds at −1 and 1. Writes factor × each hat; the linear scale comes
  // first.
  void write(double t, double factor, std::span<double, kWidth> out) const;
  // Σ of the squares that write() gives with factor 1.
  double square(double t) const;
  // The value at which a hat has its peak, with the bounds at −1 and 1.
  double peak(std::size_t hat) const;
  // Where the logarithmic scale is finest, and the distance from there to the farther bound.
  double center() const { return center_; }
  double reach() const { return reach_; }

 private:
  double bent(double t) const;          // −1, 1 → start_, start_ + length_
  double on_log_scale(double t) const;  // [−1, 1] → [0, 1]

  double center_, reach_, start_ = 0, length_ = 1;
};

}  // namespace sotto
