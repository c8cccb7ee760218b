// Release<T>: a value that may leave the process, together with the event that says what it cost.
//
// Only a plan can make one, and the event is the plan's. Post-processing keeps the event: then()
// maps the value and adds nothing. A result without any protection has a type of its own.
#pragma once

#include <optional>
#include <utility>

#include "sotto/core/event.hpp"
#include "sotto/core/plan.hpp"

namespace sotto {

template <class T>
struct Release {
  T value;
  Event event;

  template <Plan P>
  Release(T result, const P& plan) : value(std::move(result)), event(plan.event()) {}

  template <class F>
  auto then(F&& f) && {
    using Mapped = decltype(f(std::move(value)));
    return Release<Mapped>(f(std::move(value)), std::move(event));
  }

 private:
  template <class>
  friend struct Release;
  Release(T result, Event spent) : value(std::move(result)), event(std::move(spent)) {}
};

// NOT PRIVATE: computed from private records without noise. Nothing takes it for a Release.
template <class T>
struct Unprotected {
  T value;

  template <class F>
  auto then(F&& f) && {
    return Unprotected<decltype(f(std::move(value)))>{f(std::move(value))};
  }
};

// What training returns: a release, or a result that is marked as unprotected.
template <class T>
class MaybeRelease {
 public:
  MaybeRelease(Release<T> release)  // NOLINT: either may stand for it
      : value_(std::move(release.value)), event_(std::move(release.event)) {}
  MaybeRelease(Unprotected<T> result) : value_(std::move(result.value)) {}  // NOLINT

  const T& value() const& { return value_; }
  T&& value() && { return std::move(value_); }
  const std::optional<Event>& event() const { return event_; }  // none: NOT PRIVATE

  template <class F>
  auto then(F&& f) && {
    using Mapped = decltype(f(std::move(value_)));
    return MaybeRelease<Mapped>(f(std::move(value_)), std::move(event_));
  }

 private:
  template <class>
  friend class MaybeRelease;
  MaybeRelease(T value, std::optional<Event> event)
      : value_(std::move(value)), event_(std::move(event)) {}

  T value_;
  std::optional<Event> event_;
};

}  // namespace sotto
