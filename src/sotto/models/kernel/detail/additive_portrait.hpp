// Detail: what each column adds in an additive model, for whoever looks at it.
//
// The row of a record has length one, so what a level adds is multiplied by a factor of the
// record's other levels. Curves show it for a record whose other columns have their commonest
// levels. The spread is twice the standard deviation of the noise that all steps of the descent
// have added, as if none of it had been pulled back.
#pragma once

#include "sotto/learning/portrait.hpp"
#include "sotto/models/kernel/detail/kernel_model.hpp"

namespace sotto {

// Whether each tree cuts one column twice and then another three times, upwards.
bool are_pairs(const FeatureDesign& design);

// Its trees, if any, must be pairs.
Portrait additive_portrait(const FeatureMap& map,
                           const std::vector<std::vector<double>>& parameters, double noise,
                           const Encoder& encoder);

}  // namespace sotto
