// Detail: trees in words, for whoever looks at a model.
#pragma once

#include <span>

#include "sotto/learning/portrait.hpp"
#include "sotto/models/tree/detail/tree_model.hpp"

namespace sotto {

Portrait portrait_of(std::span<const TreeModel> trees, const Encoder& encoder);

}  // namespace sotto
