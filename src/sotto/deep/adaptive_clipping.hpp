// Adaptive clipping: the threshold follows a private quantile of the norms.
//
// What       After each step, update() releases a noisy count of the records whose gradient was
//            within the threshold, and moves the threshold towards the wanted quantile: C ←
//            C·exp(−η(f − γ)), f the noisy fraction. Too many inside: C shrinks.
// Guarantee  The count is a Gaussian mechanism (discrete, on a grid of 2⁻²⁴ of a contribution) of
//            noise multiplier count_multiplier() on a query of sensitivity one half
//            (add_remove, zero_out) that looks at the batch of this step, so it composes with the
//            step's gradient: together they are one
//            Gaussian mechanism of multiplier (σ⁻² + count_multiplier⁻²)^(−1/2).
//            gradient_multiplier() turns a wanted total into σ.
//            The gradient of a step is clipped at, and noised for, the threshold *before* the
//            update.
// Method     Each record contributes +1/2 or −1/2, so the query is Σ(b_i − 1/2); the public
//            expected batch size is the divisor [ATMR21].
// Numerics   The count is an integer in units of 2⁻²⁵; the noise is exact. On that grid the
//            discrete law differs from the continuous one that the event names by exp(−2π²σ²), σ ≥
//            2¹⁸ steps.
// Reference  [ATMR21]; docs/math/per-sample-clipping.md, section "Adaptive thresholds".
#pragma once

#include <cstdint>

#include "sotto/core/rng.hpp"

namespace sotto::deep {

struct AdaptiveClippingOptions {
  double quantile = 0.5;  // γ
  double rate = 0.2;      // η
  double count_noise =
      0;  // σ_b, standard deviation on the count; 0: a twentieth of the expected batch
  double smallest = 1e-6, largest = 1e6;  // C stays inside
};

class AdaptiveClipping {
 public:
  AdaptiveClipping(AdaptiveClippingOptions options, double expected_batch);

  double count_multiplier() const { return 2 * options_.count_noise; }
  // σ of the gradient so that gradient and count together have multiplier `total`. Throws when the
  // count alone exceeds it.
  double gradient_multiplier(double total) const;
  // One release: the threshold of the next step. records, unclipped: of this step's batch, private.
  double update(Rng& rng, double norm, std::int64_t private_records,
                std::int64_t private_unclipped) const;
  const AdaptiveClippingOptions& options() const { return options_; }

 private:
  AdaptiveClippingOptions options_;
  double expected_batch_;
};

}  // namespace sotto::deep
