// The neighbouring relation: which pairs of data sets a guarantee makes indistinguishable.
//
// add_remove   neighbours differ by the presence of one record; the number of records is private.
// replace_one  neighbours have the same number of records and differ in one; the number is public.
// zero_out     one record is replaced by a null record that contributes nothing; the number is
//              public.
// Guarantees under different relations are not comparable; nothing in this library mixes them
// silently.
#pragma once

#include <string_view>

namespace sotto {

enum class Relation { add_remove, replace_one, zero_out };

std::string_view name(Relation relation);
Relation parse_relation(std::string_view text);  // throws InvalidArgument

// How far a sum of vectors of norm ≤ 1 can move between neighbours: 2 when a record is replaced (+v
// → −v), else 1.
constexpr double contribution_factor(Relation relation) {
  return relation == Relation::replace_one ? 2.0 : 1.0;
}

// Whether the number of records may be used freely.
constexpr bool count_is_public(Relation relation) { return relation != Relation::add_remove; }

}  // namespace sotto
