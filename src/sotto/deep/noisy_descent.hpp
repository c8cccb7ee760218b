// NoisyDescent: the noise of a step and the step itself, in one pass over the parameters.
//
// What       NoisyDescent descent(sum.parameters());
//            descent.step(rng, sum.flat(), {.sigma = 1, .scale = 1/batch, .rate = 0.1});
//            g = scale·(sum + N(0, sigma²)),  v ← momentum·v + g,  x −= rate·v, coordinate by
//            coordinate
// Guarantee  That of the Gaussian mechanism on the sum, with the noise of fill_gaussian
//            (noise/bulk_gaussian.hpp: cryptographic randomness, floating point): the parameters
//            see the sum only with its noise. The caller announces the query.
// Method     Noise comes in pieces that stay in the cache (noise_pieces.hpp) and is used up at
//            once: it never goes to memory. The draws are those of fill_gaussian on the whole
//            vector, so noise first and descent later gives the same parameters up to rounding.
// Numerics   One rounding for each operation above.
// Reference  docs/math/bulk-gaussian.md.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sotto/core/rng.hpp"
#include "sotto/deep/recorder.hpp"

namespace sotto::deep {

struct DescentStep {
  float sigma = 0;  // of the noise on the sum
  float scale = 1;  // of the noisy sum: 1/batch
  float rate = 0;
  float momentum = 0;  // without it there is no v
};

class NoisyDescent {
 public:
  // velocity: v, as long as all parameters together; needed for momentum.
  explicit NoisyDescent(const std::vector<NamedParameter>& parameters, torch::Tensor velocity = {});

  // sum: floats, the parameters one after the other, as ClippedSum::flat().
  void step(Rng& rng, const torch::Tensor& sum, const DescentStep& step);
  // The same for some coordinates from `first` on, whose noise is in the sum already.
  void step(std::int64_t first, std::span<const float> noisy, const DescentStep& step);

 private:
  struct Target {
    std::int64_t first;       // in the sum
    torch::Tensor parameter;  // itself: its data may be replaced between steps
  };
  // Calls f(parameter, at, count) for the parameters behind coordinates [first, last).
  template <class F>
  void for_targets(std::int64_t first, std::int64_t last, const F& f) const;
  float* velocity(const DescentStep& step) const;  // null without momentum

  std::vector<Target> targets_;
  std::int64_t total_ = 0;
  torch::Tensor velocity_;
};

}  // namespace sotto::deep
