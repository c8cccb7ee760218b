// The names of what can be fitted and of the routes to privacy.
#pragma once

#include <span>
#include <string_view>

#include "sotto/models/linear/loss.hpp"

namespace sotto {

enum class LinearKind { logistic, svm, linear };
enum class Method {
  automatic,
  gradient,
  objective,
  output,
  functional,
  sufficient_statistics,
  exponential,
  sample_aggregate,
  input,
  none
};

std::string_view name(LinearKind kind);
LinearKind parse_linear_kind(std::string_view text);  // throws InvalidArgument
Loss loss_of(LinearKind kind);

std::string_view name(Method method);        // "auto", "gradient", …
Method parse_method(std::string_view text);  // throws InvalidArgument
std::span<const Method> all_methods();

}  // namespace sotto
