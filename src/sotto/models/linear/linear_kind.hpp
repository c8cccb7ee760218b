// Detail: the kinds of linear models, which name a loss and a target.
#pragma once

#include <string_view>

#include "sotto/models/linear/loss.hpp"

namespace sotto {

enum class LinearKind { logistic, svm, linear };

std::string_view name(LinearKind kind);
LinearKind parse_linear_kind(std::string_view text);  // throws InvalidArgument
Loss loss_of(LinearKind kind);

}  // namespace sotto
