// The norms a sensitivity can be stated in.
#pragma once

#include <string_view>

namespace sotto {

enum class Norm { l1, l2, linf };

std::string_view name(Norm norm);
Norm parse_norm(std::string_view text);  // throws InvalidArgument

}  // namespace sotto
