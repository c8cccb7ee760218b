// How many trials private tuning runs: K, drawn exactly.
//
// What       TrialCount: truncated negative binomial (shape η from 0 to 1; 1 is geometric, 0
//            logarithmic) or Poisson, by its mean.
// Guarantee  Exact for uniform input words: no floating-point number decides anything. What is
//            drawn has at most the stated mean and at least the stated γ, so that the bound for the
//            stated law, which grows with the mean and falls with γ, holds for it.
// Method     P(K = k) ∝ (1 − γ)^k Π_{l<k} (l + η)/(l + 1): a geometric number k of tosses is kept
//            with the product of the coins (l + η)/(l + 1), l = 1 … k−1, and drawn again otherwise.
//            Poisson: ⌈m⌉ draws of mean 1, each event of them kept with a coin m/⌈m⌉; a draw of
//            mean 1 is a number n of fair tosses kept with Π 2/l, l = 2 … n (a half for none).
// Numerics   γ, η and m/⌈m⌉ are fractions of whole numbers; γ is rounded up by parts in a billion.
// Reference  [PS22, Def. 1]; docs/math/tuning.md.
#pragma once

#include <cstdint>
#include <string>

#include "sotto/core/event.hpp"
#include "sotto/core/rng.hpp"

namespace sotto {

class TrialCount {
 public:
  // 0 ≤ shape ≤ 1, rounded up to whole parts of 2^20; 1 ≤ mean ≤ 1000. Throws InvalidArgument.
  static TrialCount truncated_negative_binomial(double shape, double mean);
  // 0 < mean ≤ 1000. There may be no trial at all.
  static TrialCount poisson(double mean);

  std::uint64_t sample(Rng& rng) const;

  SelectionDistribution distribution() const { return distribution_; }
  double shape() const { return shape_; }  // of the truncated negative binomial, as rounded
  double mean() const { return mean_; }
  double gamma() const;          // of the truncated negative binomial, as drawn
  std::string describe() const;  // "logarithmic, mean 10"

  // What the best of so many trials costs, each of them this event.
  Event event(const Event& trial) const;

 private:
  TrialCount(SelectionDistribution distribution, double shape, double mean)
      : distribution_(distribution), shape_(shape), mean_(mean) {}

  SelectionDistribution distribution_;
  double shape_, mean_;
  std::uint64_t parts_ = 0;  // η in parts of 2^20
  std::uint64_t gamma_ = 0;  // γ in parts of 2^62; or m/⌈m⌉
};

}  // namespace sotto
