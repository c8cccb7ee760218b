// Detail: a linear model with the encoder it belongs to, as the commands know models.
#pragma once

#include <memory>

#include "sotto/learning/model.hpp"
#include "sotto/models/linear/linear_model.hpp"

namespace sotto {

// Throws DataError when the model does not fit what the facts declare.
std::unique_ptr<Model> fitted_model(LinearModel model, const Facts& facts);
// From model.json.
std::unique_ptr<Model> load_linear_model(const Files& files, Facts& facts);

}  // namespace sotto
