// Detail: how much of each bend is more than noise, by what descent has moved it and what noise
// alone would have: a James–Stein factor of each run of hats or of all together, whichever is
// larger. Of noisy iterates only, so it costs nothing.
#pragma once

#include <span>
#include <vector>

#include "sotto/models/linear/detail/noisy_gradient.hpp"

namespace sotto {

class BentShare {
 public:
  BentShare(std::span<const GradientScale::Run> runs, std::span<const double> paces,
            double momentum, double rate)
      : runs_(runs), paces_(paces), momentum_(momentum), rate_(rate) {}

  // The iterate with shortened bends, after a step with noise of this standard deviation on every
  // coordinate of the mean gradient.
  std::vector<double> of(const std::vector<double>& latent, double noise);

 private:
  std::span<const GradientScale::Run> runs_;
  std::span<const double> paces_;
  double momentum_, rate_;
  double velocity_ = 0, both_ = 0, place_ = 0;
};

}  // namespace sotto
