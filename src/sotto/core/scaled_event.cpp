#include "sotto/core/scaled_event.hpp"

namespace sotto {
namespace {

std::vector<Event> all_scaled(const std::vector<Event>& events, double factor) {
  std::vector<Event> result;
  result.reserve(events.size());
  for (const Event& e : events) result.push_back(scaled(e, factor));
  return result;
}

struct Scale {
  double factor;

  Event operator()(GaussianEvent e) const { return e.sigma *= factor, e; }
  Event operator()(LaplaceEvent e) const { return e.scale *= factor, e; }
  Event operator()(DiscreteGaussianEvent e) const { return e.sigma *= factor, e; }
  Event operator()(DiscreteLaplaceEvent e) const { return e.scale *= factor, e; }
  Event operator()(GaussianMixtureEvent e) const { return e.sigma *= factor, e; }
  Event operator()(RandomizedResponseEvent e) const { return e.epsilon /= factor, e; }
  Event operator()(ExponentialEvent e) const { return e.epsilon /= factor, e; }
  Event operator()(PureEvent e) const { return e.epsilon /= factor, e; }
  Event operator()(ApproximateEvent e) const { return e.epsilon /= factor, e; }
  Event operator()(ZcdpEvent e) const { return e.rho /= factor * factor, e; }
  Event operator()(TcdpEvent e) const { return e.rho /= factor * factor, e; }
  Event operator()(GdpEvent e) const { return e.mu /= factor, e; }
  Event operator()(GnmaxEvent e) const { return e.sigma *= factor, e; }
  Event operator()(LnmaxEvent e) const { return e.scale *= factor, e; }
  Event operator()(SampledEvent e) const { return within(std::move(e)); }
  Event operator()(ShuffledEvent e) const { return within(std::move(e)); }
  Event operator()(RepeatEvent e) const { return within(std::move(e)); }
  Event operator()(PrivateSelectionEvent e) const { return within(std::move(e)); }
  Event operator()(const ComposeEvent& e) const {
    return ComposeEvent{all_scaled(e.events, factor)};
  }
  Event operator()(const ParallelEvent& e) const {
    return ParallelEvent{all_scaled(e.events, factor)};
  }

 private:
  template <class T>
  Event within(T e) const {
    e.event = share(scaled(*e.event, factor));
    return e;
  }
};

}  // namespace

Event scaled(const Event& event, double factor) { return std::visit(Scale{factor}, event.kind()); }

}  // namespace sotto
