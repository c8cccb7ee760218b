// A plan knows its cost before any private byte is read.
//
// A private computation is first a plan, made from public facts only (options, schema, budget). A
// plan states its event, hence its cost, and says in words what it will do; only then is it run on
// data. `run` is the only producer of a Release.
#pragma once

#include <concepts>
#include <string>

#include "sotto/core/event.hpp"
#include "sotto/core/relation.hpp"

namespace sotto {

template <class P>
concept Plan = requires(const P& plan) {
  { plan.event() } -> std::convertible_to<Event>;
  { plan.relation() } -> std::same_as<Relation>;
  { plan.describe() } -> std::convertible_to<std::string>;
};

}  // namespace sotto
