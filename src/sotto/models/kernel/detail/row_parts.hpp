// Detail: how rows are shared between main effects, waves and leaves, by what an earlier descent
// found in each. Post-processing of released parameters.
//
// As long as residuals change little, a descent of time τ moves the parameters of a part of squared
// length w by θ with ‖θ‖² = w·τ²·G, G the square of the gradient for a part of length one: the rate
// at which that part alone would lower the loss. Noise of deviation ν adds m·ν² for m parameters.
// So G ∝ (‖θ‖² − m·ν²)/w, and parts get lengths by what they are worth: smooth functions are left
// to waves, steps and crossed categories to leaves.
#pragma once

#include <vector>

#include "sotto/models/kernel/detail/feature_map.hpp"

namespace sotto {

// Sizes of the same features with other parts. noise: of each parameter. Where nothing was found,
// or waves or leaves are missing, the parts stay as they are.
FeatureSizes shared_by_worth(const FeatureMap& map,
                             const std::vector<std::vector<double>>& parameters, double noise);

}  // namespace sotto
