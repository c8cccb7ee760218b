// Detail: whether a linear model and an encoder belong together.
#pragma once

#include "sotto/data/encoder.hpp"
#include "sotto/models/linear/linear_model.hpp"

namespace sotto {

// Whoever hands over an artifact may have paired any model with any encoder, and certified the
// pair.
// Throws DataError.
void check_fit(const LinearModel& model, const Encoder& encoder);

}  // namespace sotto
