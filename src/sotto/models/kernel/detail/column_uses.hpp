// Detail: how often columns are looked at by the features of a second descent: by what the first
// one found. Post-processing of released parameters.
//
// The use of a column is how much the model's output changes when that column alone is drawn anew:
// E (f(x) − f(x′))² over made-up records whose columns are independent on their scales (the total
// effect of a column), less what parameters of pure noise show in the same places. Marginals cannot
// see columns that tell something only together; this does.
#pragma once

#include <vector>

#include "sotto/core/rng.hpp"
#include "sotto/models/kernel/detail/feature_map.hpp"

namespace sotto {

// noise: the standard deviation of what noise has added to each parameter. They add up to 1; where
// nothing was found, those of the marginals.
std::vector<double> column_uses(const FeatureMap& map,
                                const std::vector<std::vector<double>>& parameters, double noise,
                                Rng& rng);

}  // namespace sotto
