// NoisyDescent: the noise of a step and the step itself, in one pass over the parameters.
//
// What       NoisyDescent descent(sum.parameters());
//            descent.step(rng, sum.flat(), sigma, rate);      x −= rate·(sum + N(0, sigma²)), coordinate by coordinate
// Guarantee  That of the Gaussian mechanism on the sum, with the noise of fill_gaussian (noise/bulk_gaussian.hpp: cryptographic randomness,
//            floating point): the parameters see the sum only with its noise. The caller announces the query.
// Method     Noise comes in pieces that stay in the cache (noise_pieces.hpp) and is used up at once: it never goes to memory. The draws are
//            those of fill_gaussian on the whole vector, so noise first and descent later gives the same parameters.
// Numerics   One rounding each in sum + noise, the product and the difference.
// Reference  docs/math/bulk-gaussian.md.
#pragma once

#include <cstdint>
#include <vector>

#include "sotto/core/rng.hpp"
#include "sotto/deep/recorder.hpp"

namespace sotto::deep {

class NoisyDescent {
 public:
  explicit NoisyDescent(const std::vector<NamedParameter>& parameters);

  // sum: floats, the parameters one after the other, as ClippedSum::flat().
  void step(Rng& rng, const torch::Tensor& sum, float sigma, float rate);

 private:
  struct Target {
    std::int64_t first;  // in the sum
    torch::Tensor parameter;
  };
  std::vector<Target> targets_;
  std::int64_t total_ = 0;
};

}  // namespace sotto::deep
