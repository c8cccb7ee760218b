// A number that is collected again and again: α-point rounding, one permanent bit a grid point.
//
// What       The bounds are cut into `grid` steps. A client draws one α for ever, rounds its number
//            to the grid point below or, where the fraction and α together reach a step, above, and
//            reports the permanent one-bit answer of that point, turned over with probability γ.
// Guarantee  epsilon() for one report. Any number of reports while the rounded number stays the
//            same: epsilon_permanent(). γ > 0 hides in single reports when the bit changed.
// Method     Over α the rounding has no bias; nor has the answer of a point (numbers.hpp: OneBit).
// Numerics   α is a multiple of 2^-64, γ of 2^-64; both ε are rounded up.
// Reference  [DKY17].
#pragma once

#include "sotto/local/client/numbers.hpp"

namespace sotto::local {

class RoundedBit final : public Randomizer {
 public:
  // gamma = 0: nothing is turned over.
  RoundedBit(double epsilon, Bounds bounds, std::uint64_t grid, double gamma);

  double epsilon() const override { return epsilon_; }
  double epsilon_permanent() const override { return bit_.epsilon(); }
  std::size_t report_bytes() const override { return 1; }
  void answer(const Value& value, Memory* memory, Rng& rng,
              std::span<std::uint8_t> report) const override;
  // Over α and the permanent bits.
  long double probability(const Value& value, Bytes report) const override;

  double q() const;  // of 1, at the lower bound; at the upper it is 1 − q

 private:
  Bounds bounds_;
  OneBit bit_;
  std::uint64_t grid_, gamma_;
  double epsilon_;
};

}  // namespace sotto::local
