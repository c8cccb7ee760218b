// The refusals of accountants, worded once.
#pragma once

#include <string_view>

#include "sotto/core/relation.hpp"

namespace sotto {

// The accountant cannot express the event; others can.
[[noreturn]] void refuse(std::string_view accountant, std::string_view event,
                         std::string_view others);
[[noreturn]] void refuse_relation(std::string_view event, Relation relation,
                                  std::string_view allowed);
[[noreturn]] void refuse_failure_probability(std::string_view accountant, double failure,
                                             double delta);
[[noreturn]] void refuse_unbounded(std::string_view accountant);

}  // namespace sotto
