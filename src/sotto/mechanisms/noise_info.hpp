// Detail: What the public may know about the noise in a released number. Computed from the plan and
// from released values only.
#pragma once

#include <optional>
#include <string>

namespace sotto {

struct NoiseInfo {
  std::string distribution;  // "discrete_laplace", "discrete_gaussian", "exponential"
  double scale =
      0;  // b, σ, or for a selection the score that costs a factor e; in the unit of the value
  std::optional<double> standard_deviation = {};  // of the noise, where it has one
  std::optional<double> half_width_95 =
      {};                    // the noise lies within ± this with probability at least 0.95
  bool approximate = false;  // the value is a ratio of noisy numbers: first-order figures
};

// A released number with the description of its noise.
struct Statistic {
  double value = 0;
  NoiseInfo noise;
};

}  // namespace sotto
