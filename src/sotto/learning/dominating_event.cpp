#include "sotto/learning/detail/dominating_event.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "sotto/accounting/account.hpp"
#include "sotto/accounting/renyi/renyi.hpp"
#include "sotto/accounting/renyi/zcdp.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/numeric/outward.hpp"
#include "sotto/learning/individual_filter.hpp"

namespace sotto {
namespace {

constexpr double kStep = 1.03;
constexpr double kWorthAFailure = 1.01;  // times the cost without one
constexpr double kLargestOmegas[] = {3, 6, 12, 24, 48, 96, 192};

[[noreturn]] void refuse() {
  throw Unsupported(
      "the candidates cost different things, and nothing is known that costs as much as any",
      "let candidates differ in options that leave their noise and sampling as they are");
}

std::optional<double> largest_rho(const std::vector<Event>& events, Relation relation) {
  double rho = 0;
  try {
    for (const Event& event : events) {
      const Concentrated cost = concentrated_cost(event, relation);
      if (cost.delta > 0) return std::nullopt;
      rho = std::max(rho, cost.rho);
    }
  } catch (const Unsupported&) {
    return std::nullopt;
  }
  return rho;
}

// μ² and the failure probability of what is Gaussian up to a failure.
struct GaussianCost {
  double square = 0, failure = 0;

  // Adds `count` uses of an event; false when it is something else.
  bool add(const Event& event, double count) {
    if (const auto* gdp = event.get_if<GdpEvent>()) {
      square = add_up(square, multiply_up(count, multiply_up(gdp->mu, gdp->mu)));
    } else if (const auto* failing = event.get_if<ApproximateEvent>()) {
      if (failing->epsilon != 0) return false;
      failure = add_up(failure, multiply_up(count, failing->delta));
    } else if (const auto* lattice = event.get_if<DiscreteGaussianEvent>()) {
      const double mu = widen_up(std::sqrt(count) * lattice->sensitivity / lattice->sigma, 1e-15);
      const Event claim = filtered_gaussian_event(mu, lattice->sigma / lattice->granularity,
                                                  count * static_cast<double>(lattice->dimension));
      return claim.get_if<ComposeEvent>() != nullptr && add(claim, 1);
    } else if (const auto* repeated = event.get_if<RepeatEvent>()) {
      return add(*repeated->event, count * static_cast<double>(repeated->count));
    } else if (const auto* all = event.get_if<ComposeEvent>()) {
      return std::all_of(all->events.begin(), all->events.end(),
                         [&](const Event& part) { return add(part, count); });
    } else {
      return false;
    }
    return true;
  }
};

// Gaussians of different noise and number: the pair N(0, 1), N(μ, 1) of the largest μ dominates
// those of all, and so it does beside the largest failure probability.
std::optional<Event> largest_gaussian(const std::vector<Event>& events) {
  GaussianCost largest;
  for (const Event& event : events) {
    GaussianCost own;
    if (!own.add(event, 1)) return std::nullopt;
    largest.square = std::max(largest.square, own.square);
    largest.failure = std::max(largest.failure, own.failure);
  }
  const GdpEvent gaussian{widen_up(std::sqrt(largest.square), 1e-15)};
  if (largest.failure == 0) return gaussian;
  return compose({gaussian, ApproximateEvent{0, largest.failure}});
}

// For each ω the smallest ρ with D_α ≤ ρα below it, for all curves.
std::vector<TcdpEvent> truncated(const std::vector<Event>& events, Relation relation) {
  std::vector<RenyiCurve> curves;
  for (const Event& event : events) {
    curves.emplace_back(event, relation);
    if (curves.back().delta() > 0) refuse();
  }
  std::vector<TcdpEvent> found;
  double rho = 0, order = 1;
  for (const double omega : kLargestOmegas) {
    while (order < omega) {
      const double next = std::min(omega, order * kStep);
      for (const RenyiCurve& curve : curves)
        rho = std::max(rho, next <= curve.largest_order()
                                ? std::nextafter(curve(next) / order, INFINITY)
                                : INFINITY);
      order = next;
    }
    if (!(rho > 0) || !std::isfinite(rho)) break;
    found.push_back({.rho = rho, .omega = omega});
  }
  return found;
}

// +∞ where there is no bound.
double cost_of(const Event& event, const std::function<double(const Event&)>& cost) {
  try {
    return cost(event);
  } catch (const AccountingError&) {
    return INFINITY;
  }
}

}  // namespace

Event dominating_event(const std::vector<Event>& events, Relation relation, bool pure,
                       const std::function<double(const Event&)>& cost) {
  if (events.empty()) invariant_broken("no event to dominate");
  const bool alike =
      std::all_of(events.begin(), events.end(), [&](const Event& e) { return e == events[0]; });
  // Also where all are alike: a profile in closed form is what makes a selection among them cheap.
  if (!pure)
    if (const auto gaussian = largest_gaussian(events)) {
      // Its failure probability may be more than the whole has to give.
      const double own = gaussian->get_if<GdpEvent>() != nullptr ? 0 : cost_of(*gaussian, cost);
      if (alike ? own <= kWorthAFailure * cost_of(events[0], cost) : std::isfinite(own))
        return *gaussian;
    }
  if (alike) return events[0];
  if (pure) {
    double largest = 0;
    for (const Event& event : events)
      largest = std::max(largest, guarantee(Spec{relation, {event}}, 0).upper);
    return PureEvent{largest};
  }
  if (const auto rho = largest_rho(events, relation)) return ZcdpEvent{*rho};
  std::optional<Event> best;
  double best_cost = INFINITY;
  for (const TcdpEvent& event : truncated(events, relation)) {
    const double own = cost_of(event, cost);
    if (own < best_cost || !best) best = event, best_cost = own;
  }
  if (!best) refuse();
  return *best;
}

}  // namespace sotto
