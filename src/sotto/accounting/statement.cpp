#include "sotto/accounting/statement.hpp"

#include <algorithm>

#include "sotto/accounting/account.hpp"
#include "sotto/accounting/composition/detail/apart.hpp"
#include "sotto/accounting/composition/run_length.hpp"
#include "sotto/accounting/detail/refusal.hpp"
#include "sotto/core/rounded_text.hpp"

namespace sotto {
namespace {

std::string relation_words(Relation relation) {
  switch (relation) {
    case Relation::add_remove: return "added or removed (the number of records is private)";
    case Relation::replace_one: return "replaced by any other (the number of records is public)";
    case Relation::zero_out: return "replaced by an empty one (the number of records is public)";
  }
  return {};
}

std::string noise(std::string_view kind, double scale, double sensitivity, Basis basis) {
  if (basis == Basis::contribution)
    return fmt::format("{} noise with noise multiplier {:.6g}", kind, scale / sensitivity);
  return fmt::format("{} noise of scale {:.6g} on sensitivity {:.6g}", kind, scale, sensitivity);
}

std::string list(const std::vector<Event>& events) {
  std::string out;
  for (const Event& e : events) out += (out.empty() ? "" : "; ") + describe(e);
  return out;
}

std::string sampled(const SampledEvent& e) {
  switch (e.scheme) {
    case Scheme::poisson:
      return fmt::format("{} on a Poisson sample of rate {:.6g}", describe(*e.event), e.rate);
    case Scheme::without_replacement:
      return fmt::format("{} on {} of {} records drawn without replacement", describe(*e.event),
                         e.size, e.population);
    case Scheme::with_replacement: break;
  }
  return fmt::format("{} on {} draws with replacement from {} records", describe(*e.event), e.size,
                     e.population);
}

bool amplified(const Event& event) {
  const auto any = [](const std::vector<Event>& events) {
    return std::ranges::any_of(events, amplified);
  };
  if (const auto* e = event.get_if<RepeatEvent>()) return amplified(*e->event);
  if (const auto* e = event.get_if<PrivateSelectionEvent>()) return amplified(*e->event);
  if (const auto* e = event.get_if<ComposeEvent>()) return any(e->events);
  if (const auto* e = event.get_if<ParallelEvent>()) return any(e->events);
  return event.get_if<SampledEvent>() || event.get_if<ShuffledEvent>();
}

}  // namespace

std::string describe(const Event& event) {
  return std::visit(
      overloaded{
          [](const GaussianEvent& e) { return noise("Gaussian", e.sigma, e.sensitivity, e.basis); },
          [](const LaplaceEvent& e) { return noise("Laplace", e.scale, e.sensitivity, e.basis); },
          [](const DiscreteGaussianEvent& e) {
            return noise("discrete Gaussian", e.sigma, e.sensitivity, Basis::exact);
          },
          [](const DiscreteLaplaceEvent& e) {
            return noise("discrete Laplace", e.scale, e.sensitivity, Basis::exact);
          },
          [](const GaussianMixtureEvent& e) {
            return fmt::format("Gaussian noise of scale {:.6g} on a random sensitivity", e.sigma);
          },
          [](const RandomizedResponseEvent& e) {
            return fmt::format("randomized response over {} categories with epsilon {:.6g}",
                               e.categories, e.epsilon);
          },
          [](const ExponentialEvent& e) {
            return fmt::format("an exponential mechanism with epsilon {:.6g}", e.epsilon);
          },
          [](const PureEvent& e) {
            return fmt::format("a mechanism with epsilon {:.6g}", e.epsilon);
          },
          [](const ApproximateEvent& e) {
            return fmt::format("a mechanism with epsilon {:.6g} and delta {:.6g}", e.epsilon,
                               e.delta);
          },
          [](const ZcdpEvent& e) { return fmt::format("a {:.6g}-zCDP mechanism", e.rho); },
          [](const TcdpEvent& e) {
            return fmt::format("a ({:.6g}, {:.6g})-truncated CDP mechanism", e.rho, e.omega);
          },
          [](const GdpEvent& e) { return fmt::format("a {:.6g}-GDP mechanism", e.mu); },
          [](const GnmaxEvent& e) {
            return fmt::format("a vote of teachers with Gaussian noise {:.6g}", e.sigma);
          },
          [](const LnmaxEvent& e) {
            return fmt::format("a vote of teachers with Laplace noise {:.6g}", e.scale);
          },
          [](const SampledEvent& e) { return sampled(e); },
          [](const ShuffledEvent& e) {
            return fmt::format("reports of {} users, each by {}, shuffled", e.population,
                               describe(*e.event));
          },
          [](const RepeatEvent& e) {
            return fmt::format("{}, {} times", describe(*e.event), e.count);
          },
          [](const ComposeEvent& e) { return list(e.events); },
          [](const ParallelEvent& e) {
            return fmt::format("on disjoint parts of the records: {}", list(e.events));
          },
          [](const PrivateSelectionEvent& e) {
            return fmt::format("the best of a random number (mean {:.6g}) of runs of {}", e.mean,
                               describe(*e.event));
          },
      },
      event.kind());
}

Event without_amplification(const Event& event, Relation relation) {
  const auto inner = [&](const EventPtr& e) { return without_amplification(*e, relation); };
  if (const auto* e = event.get_if<SampledEvent>()) {
    if (e->scheme != Scheme::with_replacement) return inner(e->event);
    const auto every_draw = seen_from_afar(inner(e->event), relation, {e->size, 1});
    if (!every_draw) refuse("statement", "a record seen in every draw with replacement", "");
    return *every_draw;
  }
  if (const auto* e = event.get_if<ShuffledEvent>()) return inner(e->event);
  if (const auto* e = event.get_if<RepeatEvent>()) return repeat(inner(e->event), e->count);
  if (const auto* e = event.get_if<PrivateSelectionEvent>()) {
    PrivateSelectionEvent copy = *e;
    copy.event = share(inner(e->event));
    return copy;
  }
  const auto all = [&](const std::vector<Event>& events) {
    std::vector<Event> out;
    for (const Event& e : events) out.push_back(without_amplification(e, relation));
    return out;
  };
  if (const auto* e = event.get_if<ComposeEvent>()) return ComposeEvent{all(e->events)};
  if (const auto* e = event.get_if<ParallelEvent>()) return ParallelEvent{all(e->events)};
  return event;
}

std::string statement(const Spec& spec, Delta delta, const Bound& bound, const std::string& unit) {
  std::string out = fmt::format("Protected unit: {}, {}.\n", unit, relation_words(spec.relation));
  out +=
      fmt::format("Mechanism: {}.\n", spec.events.empty() ? "nothing was done" : list(spec.events));
  out += fmt::format("Guarantee: epsilon {} at delta {}", round_up(bound.upper),
                     round_up(delta.value()));
  if (bound.lower > 0)
    out += fmt::format(" (no analysis can claim less than {})", round_down(bound.lower));
  out += ".\n";
  if (amplified(spec.event())) {
    try {
      const Spec plain{spec.relation, {without_amplification(spec.event(), spec.relation)}};
      AccountOptions quick;
      quick.tolerance = 1e-2;
      out += fmt::format(
          "Without amplification (the sample or the order becomes known): epsilon {}.\n",
          round_up(epsilon(plain, delta, quick).upper));
    } catch (const Error&) {
      out += "Without amplification no finite epsilon is known.\n";
    }
  }
  out += fmt::format("Accountant: {}; {}.\n", name(bound.accountant), bound.conversion);
  return out;
}

}  // namespace sotto
