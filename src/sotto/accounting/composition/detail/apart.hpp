// Detail: what a mechanism costs when its two inputs are farther apart than neighbours are.
//
// A sample of fixed size that misses a record holds another in its place, and one with replacement
// may hold a record many times. So the inputs of the mechanism that runs on the sample differ in
// `records` places, each by `span` steps of the relation: one when the relation is about replacing,
// two (away with one, in with the other) under add_remove and zero_out.
#pragma once

#include <cstdint>
#include <optional>

#include "sotto/core/event.hpp"
#include "sotto/core/relation.hpp"

namespace sotto {

struct Apart {
  std::uint64_t records = 1, span = 1;
  friend bool operator==(const Apart&, const Apart&) = default;
};

// Steps between a record and another one.
constexpr std::uint64_t steps_of_replacing(Relation relation) {
  return relation == Relation::replace_one ? 1 : 2;
}

// Steps of the relation that count for the event: randomized response and votes bear any change of
// an input as one.
std::uint64_t steps_between(const Event& event, const Apart& apart);

// The event as inputs that far apart see it, rounded up; nothing where no bound for groups is
// known.
std::optional<Event> seen_from_afar(const Event& event, Relation relation, const Apart& apart);

}  // namespace sotto
