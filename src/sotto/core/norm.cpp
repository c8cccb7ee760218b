#include "sotto/core/norm.hpp"

#include <fmt/format.h>

#include "sotto/core/error.hpp"

namespace sotto {

std::string_view name(Norm norm) {
  switch (norm) {
    case Norm::l1: return "l1";
    case Norm::l2: return "l2";
    case Norm::linf: return "linf";
  }
  return "l2";
}

Norm parse_norm(std::string_view text) {
  for (Norm norm : {Norm::l1, Norm::l2, Norm::linf}) {
    if (text == name(norm)) return norm;
  }
  throw InvalidArgument(fmt::format("unknown norm '{}'", text), "use l1, l2 or linf");
}

}  // namespace sotto
