#include "sotto/accounting/composition/detail/apart.hpp"

#include <algorithm>

#include "sotto/accounting/composition/detail/simple_mechanism.hpp"
#include "sotto/accounting/composition/group.hpp"
#include "sotto/core/numeric/outward.hpp"

namespace sotto {
namespace {

bool bears_any_change(const Event& event) {
  return event.get_if<RandomizedResponseEvent>() || event.get_if<GnmaxEvent>() ||
         event.get_if<LnmaxEvent>();
}

using Seen = std::optional<Event>;

struct FromAfar {
  Relation relation;
  Apart apart;
  std::uint64_t steps;

  double times(double x) const { return multiply_up(x, static_cast<double>(steps)); }
  double distance(double sensitivity, Basis basis) const {
    return times(basis == Basis::contribution ? contribution_factor(relation) * sensitivity
                                              : sensitivity);
  }

  Seen operator()(const GaussianEvent& e) const {
    return GaussianEvent{e.sigma, distance(e.sensitivity, e.basis), Basis::exact};
  }
  Seen operator()(const LaplaceEvent& e) const {
    return LaplaceEvent{e.scale, distance(e.sensitivity, e.basis), Basis::exact};
  }
  Seen operator()(const DiscreteGaussianEvent& e) const {
    return DiscreteGaussianEvent{e.sigma, times(e.sensitivity), e.granularity, e.dimension};
  }
  Seen operator()(const DiscreteLaplaceEvent& e) const {
    return DiscreteLaplaceEvent{e.scale, times(e.sensitivity), e.granularity, e.dimension};
  }
  Seen operator()(const RandomizedResponseEvent& e) const { return PureEvent{times(e.epsilon)}; }
  Seen operator()(const ExponentialEvent& e) const { return ExponentialEvent{times(e.epsilon)}; }
  Seen operator()(const PureEvent& e) const { return PureEvent{times(e.epsilon)}; }
  Seen operator()(const ApproximateEvent& e) const {
    const ApproximateDp all = group_approximate({e.epsilon, e.delta, 1}, steps);
    if (!(all.delta < 1)) return std::nullopt;
    return ApproximateEvent{all.epsilon, all.delta};
  }
  Seen operator()(const ZcdpEvent& e) const { return ZcdpEvent{group_zcdp(e.rho, steps)}; }
  Seen operator()(const GdpEvent& e) const { return GdpEvent{times(e.mu)}; }
  Seen operator()(const GnmaxEvent& e) const {
    return GaussianEvent{e.sigma, times(next_up(std::sqrt(2.0))), Basis::exact};
  }
  Seen operator()(const LnmaxEvent& e) const {
    return LaplaceEvent{e.scale, times(2), Basis::exact};
  }
  Seen operator()(const RepeatEvent& e) const {
    const Seen one = seen_from_afar(*e.event, relation, apart);
    if (!one) return std::nullopt;
    return repeat(*one, e.count);
  }
  Seen operator()(const ComposeEvent& e) const {
    std::vector<Event> all;
    for (const Event& part : e.events) {
      const Seen one = seen_from_afar(part, relation, apart);
      if (!one) return std::nullopt;
      all.push_back(*one);
    }
    return compose(std::move(all));
  }
  // Mixtures, truncated curves and everything random inside: no bound for groups is derived.
  template <class T>
  Seen operator()(const T&) const {
    return std::nullopt;
  }
};

}  // namespace

std::uint64_t steps_between(const Event& event, const Apart& apart) {
  return apart.records * (bears_any_change(event) ? 1 : apart.span);
}

std::optional<Event> seen_from_afar(const Event& event, Relation relation, const Apart& apart) {
  const std::uint64_t steps = steps_between(event, apart);
  const bool nested = event.get_if<RepeatEvent>() || event.get_if<ComposeEvent>();
  if (steps == 1 && !nested) return event;
  return std::visit(FromAfar{relation, apart, steps}, event.kind());
}

}  // namespace sotto
