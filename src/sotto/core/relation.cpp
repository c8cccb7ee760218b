#include "sotto/core/relation.hpp"

#include <fmt/format.h>

#include "sotto/core/error.hpp"

namespace sotto {

std::string_view name(Relation relation) {
  switch (relation) {
    case Relation::add_remove: return "add_remove";
    case Relation::replace_one: return "replace_one";
    case Relation::zero_out: return "zero_out";
  }
  return "add_remove";
}

Relation parse_relation(std::string_view text) {
  for (Relation r : {Relation::add_remove, Relation::replace_one, Relation::zero_out}) {
    if (text == name(r)) return r;
  }
  throw InvalidArgument(fmt::format("unknown relation '{}'", text),
                        "use add_remove, replace_one or zero_out");
}

}  // namespace sotto
