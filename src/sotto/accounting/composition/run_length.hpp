// One run-length list of what was done: the only place where counts live, so that no accountant can
// forget them.
//
// repeat and compose are taken apart (counts multiply), equal events are merged. What remains in a
// Run is one mechanism: noise, sampled, shuffled, parallel, private_selection, … applied `count`
// times.
#pragma once

#include <cstdint>
#include <vector>

#include "sotto/core/event.hpp"

namespace sotto {

struct Run {
  Event event;  // never a repeat or a compose
  std::uint64_t count = 1;
};

// Order is that of first appearance. Throws AccountingError when a count does not fit 64 bits.
std::vector<Run> run_lengths(const Event& event);

}  // namespace sotto
