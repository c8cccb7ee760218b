// The law of the total loss of many uses, by an exponentially tilted Fourier transform.
//
// What       Given step laws on one grid and their counts, bounds of the δ(ε) of their composition
//            around one ε, or one δ.
// Guarantee  For upper step laws delta() is an upper bound, for lower ones a lower bound:
//            truncation, wrap-around and rounding are charged (or subtracted).
// Method     Masses are multiplied by e^{θL − K(θ)}, transformed, raised to their counts,
//            multiplied, and transformed back once.
//            The tilt moves the interesting tail to the middle, so round-off is relative to the
//            tail: δ = 1e-60 is like 1e-5.
//            The window of the tilted sum is chosen by Chernoff's bound with the log-moments K of
//            the step laws themselves.
// Numerics   |round-off| in ℓ2 is at most fft_error·Σ T·|G/F| + …, see docs/math/pld.md §6.
// Reference  [KJH20] FFT accountant; docs/math/pld.md §5–6.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sotto/accounting/pld/grid.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

struct StepRun {
  StepLaw law;
  std::uint64_t count = 1;
};

enum class BoundSide { upper, lower };

// ln Σ_g T_g·ln Σ mass·e^{θ·loss}: the log-moment function of the total.
double log_moment(std::span<const StepRun> runs, double h, double theta);

// The window holds more grid points than the largest transform allowed, by this factor.
struct WindowTooWide : AccountingError {
  explicit WindowTooWide(double factor)
      : AccountingError(
            "the total privacy loss spans too wide a range to be computed on this grid"),
        excess(factor) {}
  double excess;
};

// What the window is made for, about: it decides what lies outside, which is charged, never the
// result.
struct WindowTarget {
  double epsilon, log_delta;
  double leak = 1e-8;  // fraction of δ that may be lost to the window
};

struct ChernoffSlope {
  double slope, log_moment;
};

class TiltedSum {
 public:
  TiltedSum(std::span<const StepRun> runs, double h, double theta, BoundSide side,
            std::size_t largest_transform, const WindowTarget& target);

  double delta(double epsilon) const;  // clamped to [0, 1]
  double epsilon(double delta)
      const;  // upper: smallest certified ε (∞ if none in the window); lower: largest, 0 if none
  double lowest() const {
    return bottom_;
  }  // ε below this is outside the window: delta() is 1 (upper) or 0 (lower)
  double round_off() const { return noise_; }
  double round_off(double epsilon) const;  // in δ(ε)
  std::size_t size() const { return tail_.size(); }

 private:
  double raw(std::size_t j, double epsilon) const;  // for ε in (loss of j−1, loss of j]
  double far_at(double epsilon) const;              // what was counted too much below

  double wrapped(double epsilon) const;

  BoundSide side_;
  double h_, theta_;
  double log_scale_;   // K(θ) of the total
  double bottom_ = 0;  // lowest ε served
  double noise_ =
      0;  // bound of everything that is not the true tilted mass, relative to e^{K − θε}
  double constant_ = 0;  // absolute charge: mass at ∞ and above the window
  double slack_ = 0, shift_ = 0;
  double far_ = 0;  // see StepLaw::far: at ε at most e^ε times that much was counted too much
  double rounding_ = 0;  // relative error of the suffix sums
  double width_ = 0, summing_ = 0, hint_ = 0;
  std::vector<ChernoffSlope> above_;
  std::int64_t first_ = 0;
  std::vector<double> tail_, tail_q_;  // Σ_{i≥j} y_i e^{−θ(i−j)h} and the same with θ+1
};

}  // namespace sotto
