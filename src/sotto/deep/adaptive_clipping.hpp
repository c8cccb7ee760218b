// Adaptive clipping: thresholds follow noisy counts of the norms.
//
// What       After each step, update() releases a noisy count of the records whose gradient was
//            within the threshold, and moves the threshold towards the wanted quantile: C ←
//            C·exp(−η(f − γ)), f the noisy fraction. Too many inside: C shrinks, not below
//            `smallest` (a floor of the user's makes it bounded adaptive clipping [ZRHTH25]).
//            With the rule `groups`, update_groups() releases for each declared group of records
//            how many are beyond C/2 and how many are not, and groups with more than their share
//            beyond get more room: C_k moves towards (C/2)(1 + (m_k/b_k)/(m/b)) [XDW21].
// Guarantee  The count is a Gaussian mechanism (discrete, on a grid of 2⁻²⁴ of a contribution) of
//            noise multiplier count_multiplier() on a query of sensitivity one half
//            (add_remove, zero_out) that looks at the batch of this step, so it composes with the
//            step's gradient: together they are one
//            Gaussian mechanism of multiplier (σ⁻² + count_multiplier⁻²)^(−1/2).
//            gradient_multiplier() turns a wanted total into σ.
//            The gradient of a step is clipped at, and noised for, the threshold *before* the
//            update.
//            The counts of groups: a record is in one of 2K cells, so the vector of counts has
//            ℓ2-sensitivity 1, and count_multiplier() is the deviation of the noise on each.
// Method     Each record contributes +1/2 or −1/2, so the query is Σ(b_i − 1/2); the public
//            expected batch size is the divisor [ATMR21]. Counts of groups are drawn towards the
//            share of all records as if as many more had been seen as the noise is wide, so that a
//            group that is lost in the noise gets the common threshold.
// Numerics   The count is an integer in units of 2⁻²⁵; the noise is exact. On that grid the
//            discrete law differs from the continuous one that the event names by exp(−2π²σ²), σ ≥
//            2¹⁸ steps.
// Reference  [ATMR21]; docs/math/per-sample-clipping.md, section "Adaptive thresholds";
//            docs/math/fairness.md, section "Mitigations".
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sotto/core/rng.hpp"

namespace sotto::deep {

enum class AdaptiveRule { quantile, groups };

struct AdaptiveClippingOptions {
  AdaptiveRule rule = AdaptiveRule::quantile;
  double quantile = 0.5;  // γ
  double rate = 0.2;      // η
  double count_noise =
      0;  // σ_b, deviation on the count; 0: a twentieth of the expected batch; 10 for groups
  double smallest = 1e-6, largest = 1e6;  // C stays inside
  std::size_t groups = 0;                 // of the rule groups: how many
  // What is released is multiplied by (first C)/C: gradients within C, the more of which the
  // larger the quantile is, are scaled alike [EGSC23].
  bool rescale = false;
};

class AdaptiveClipping {
 public:
  AdaptiveClipping(AdaptiveClippingOptions options, double expected_batch);

  double count_multiplier() const {
    return (options_.rule == AdaptiveRule::quantile ? 2 : 1) * options_.count_noise;
  }
  // σ of the gradient so that gradient and count together have multiplier `total`. Throws when the
  // count alone exceeds it.
  double gradient_multiplier(double total) const;
  // One release: the threshold of the next step. records, unclipped: of this step's batch, private.
  double update(Rng& rng, double norm, std::int64_t private_records,
                std::int64_t private_unclipped) const;
  // One release, of the rule groups: the thresholds of the next step. private_counts: for each
  // group how many records of this step's batch are beyond clip/2, then how many are not.
  std::vector<double> update_groups(Rng& rng, std::vector<double> norms, double clip,
                                    std::span<const std::int64_t> private_counts) const;
  static constexpr double kMostRoom = 4;  // C_k is at most so many times C
  const AdaptiveClippingOptions& options() const { return options_; }

 private:
  AdaptiveClippingOptions options_;
  double expected_batch_;
};

}  // namespace sotto::deep
