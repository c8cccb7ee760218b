// Release<T>: a value that may leave the process, together with the event that says what it cost.
//
// Only the run of a plan makes one. Post-processing keeps the event: then() maps the value and adds nothing.
#pragma once

#include <utility>

#include "sotto/core/event.hpp"

namespace sotto {

template <class T>
struct Release {
  T value;
  Event event;

  template <class F>
  auto then(F&& f) && {
    return Release<decltype(f(std::move(value)))>{f(std::move(value)), std::move(event)};
  }
};

}  // namespace sotto
