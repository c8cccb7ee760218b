#include "sotto/core/event.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sotto/core/error.hpp"

namespace sotto {
namespace {

double distance(double sensitivity, Basis basis, Relation relation) {
  return basis == Basis::contribution ? contribution_factor(relation) * sensitivity : sensitivity;
}

bool same(const EventPtr& a, const EventPtr& b) { return a == b || (a && b && *a == *b); }

// The checks below name the event and the parameter in the vocabulary of the JSON form.
void require(bool ok, std::string_view event, std::string_view parameter, double value,
             std::string_view allowed) {
  if (!ok) {
    throw InvalidArgument(
        fmt::format("{}.{} is {}; it must be {}", event, parameter, value, allowed));
  }
}
void positive(std::string_view event, std::string_view parameter, double v) {
  require(v > 0 && std::isfinite(v), event, parameter, v, "a finite number above 0");
}
void not_negative(std::string_view event, std::string_view parameter, double v) {
  require(v >= 0 && std::isfinite(v), event, parameter, v, "a finite number, 0 or more");
}
void at_least(std::string_view event, std::string_view parameter, std::uint64_t v,
              std::uint64_t least) {
  if (v < least) {
    throw InvalidArgument(
        fmt::format("{}.{} is {}; it must be at least {}", event, parameter, v, least));
  }
}
void present(std::string_view event, const EventPtr& inner) {
  if (!inner) throw InvalidArgument(fmt::format("{} has no inner event", event));
}

// A population stated inside a sample is the sample: all of it, or (in one of several parts) some
// of it. Of a poisson sample nobody knows the size.
void require_population(std::string_view name, std::uint64_t population, const SampledEvent& outer,
                        bool part) {
  if (outer.scheme == Scheme::poisson) {
    throw InvalidArgument(
        fmt::format("{} states a population of {} inside a poisson sample, whose size is random",
                    name, population),
        "sample by poisson inside as well, or state one sample in all");
  }
  if (part ? population <= outer.size : population == outer.size) return;
  throw InvalidArgument(
      fmt::format("{} has population {} inside a sample of size {}", name, population, outer.size),
      part ? "a part of a sample has at most as many records" : "the sample is its population");
}

void runs_on_sample(const Event& event, const SampledEvent& outer, bool part) {
  if (const auto* e = event.get_if<RepeatEvent>()) return runs_on_sample(*e->event, outer, part);
  if (const auto* e = event.get_if<PrivateSelectionEvent>())
    return runs_on_sample(*e->event, outer, part);
  if (const auto* e = event.get_if<ComposeEvent>())
    for (const Event& inner : e->events) runs_on_sample(inner, outer, part);
  if (const auto* e = event.get_if<ParallelEvent>())
    for (const Event& inner : e->events) runs_on_sample(inner, outer, true);
  if (const auto* e = event.get_if<ShuffledEvent>())
    require_population("shuffled", e->population, outer, part);
  if (const auto* e = event.get_if<SampledEvent>(); e && e->scheme != Scheme::poisson)
    require_population("sampled", e->population, outer, part);
}

struct Validator {
  void operator()(const GaussianEvent& e) const {
    positive("gaussian", "sigma", e.sigma);
    positive("gaussian", "sensitivity", e.sensitivity);
  }
  void operator()(const LaplaceEvent& e) const {
    positive("laplace", "scale", e.scale);
    positive("laplace", "sensitivity", e.sensitivity);
  }
  void operator()(const DiscreteGaussianEvent& e) const {
    positive("discrete_gaussian", "sigma", e.sigma);
    positive("discrete_gaussian", "sensitivity", e.sensitivity);
    positive("discrete_gaussian", "granularity", e.granularity);
    at_least("discrete_gaussian", "dimension", e.dimension, 1);
  }
  void operator()(const DiscreteLaplaceEvent& e) const {
    positive("discrete_laplace", "scale", e.scale);
    positive("discrete_laplace", "sensitivity", e.sensitivity);
    positive("discrete_laplace", "granularity", e.granularity);
    at_least("discrete_laplace", "dimension", e.dimension, 1);
  }
  void operator()(const GaussianMixtureEvent& e) const {
    positive("gaussian_mixture", "sigma", e.sigma);
    if (e.sensitivities.empty() || e.sensitivities.size() != e.probabilities.size()) {
      throw InvalidArgument(
          fmt::format("gaussian_mixture has {} sensitivities and {} probabilities; it needs as "
                      "many of both, at least one",
                      e.sensitivities.size(), e.probabilities.size()));
    }
    double total = 0;
    for (double s : e.sensitivities) not_negative("gaussian_mixture", "sensitivities", s);
    for (double p : e.probabilities) {
      require(p >= 0 && p <= 1, "gaussian_mixture", "probabilities", p, "between 0 and 1");
      total += p;
    }
    require(std::abs(total - 1) <= 1e-9, "gaussian_mixture", "probabilities (their sum)", total,
            "1");
  }
  void operator()(const RandomizedResponseEvent& e) const {
    positive("randomized_response", "epsilon", e.epsilon);
    at_least("randomized_response", "categories", e.categories, 2);
  }
  void operator()(const ExponentialEvent& e) const {
    positive("exponential", "epsilon", e.epsilon);
  }
  void operator()(const PureEvent& e) const { not_negative("pure", "epsilon", e.epsilon); }
  void operator()(const ApproximateEvent& e) const {
    not_negative("approximate", "epsilon", e.epsilon);
    require(e.delta >= 0 && e.delta < 1, "approximate", "delta", e.delta, "0 or more and below 1");
  }
  void operator()(const ZcdpEvent& e) const { not_negative("zcdp", "rho", e.rho); }
  void operator()(const TcdpEvent& e) const {
    not_negative("tcdp", "rho", e.rho);
    require(e.omega > 1, "tcdp", "omega", e.omega, "above 1");
  }
  void operator()(const GdpEvent& e) const { not_negative("gdp", "mu", e.mu); }
  void operator()(const GnmaxEvent& e) const { positive("gnmax", "sigma", e.sigma); }
  void operator()(const LnmaxEvent& e) const { positive("lnmax", "scale", e.scale); }
  void operator()(const SampledEvent& e) const {
    present("sampled", e.event);
    if (e.scheme == Scheme::poisson) {
      require(e.rate > 0 && e.rate <= 1, "sampled", "rate", e.rate, "above 0 and at most 1");
    } else {
      at_least("sampled", "size", e.size, 1);
      at_least("sampled", "population", e.population,
               e.scheme == Scheme::without_replacement ? e.size : 1);
    }
    runs_on_sample(*e.event, e, false);
  }
  void operator()(const ShuffledEvent& e) const {
    present("shuffled", e.event);
    at_least("shuffled", "population", e.population, 1);
  }
  void operator()(const RepeatEvent& e) const {
    present("repeat", e.event);
    at_least("repeat", "count", e.count, 1);
  }
  void operator()(const ComposeEvent&) const {}
  void operator()(const ParallelEvent& e) const {
    if (e.events.empty()) throw InvalidArgument("parallel has no events; it needs at least one");
  }
  void operator()(const PrivateSelectionEvent& e) const {
    present("private_selection", e.event);
    if (e.distribution == SelectionDistribution::truncated_negative_binomial) {
      not_negative("private_selection", "shape", e.shape);
      require(e.mean >= 1 && std::isfinite(e.mean), "private_selection", "mean", e.mean,
              "a finite number, 1 or more");
    } else {
      positive("private_selection", "mean", e.mean);
    }
  }
};

struct Namer {
  std::string_view operator()(const GaussianEvent&) const { return "gaussian"; }
  std::string_view operator()(const LaplaceEvent&) const { return "laplace"; }
  std::string_view operator()(const DiscreteGaussianEvent&) const { return "discrete_gaussian"; }
  std::string_view operator()(const DiscreteLaplaceEvent&) const { return "discrete_laplace"; }
  std::string_view operator()(const GaussianMixtureEvent&) const { return "gaussian_mixture"; }
  std::string_view operator()(const RandomizedResponseEvent&) const {
    return "randomized_response";
  }
  std::string_view operator()(const ExponentialEvent&) const { return "exponential"; }
  std::string_view operator()(const PureEvent&) const { return "pure"; }
  std::string_view operator()(const ApproximateEvent&) const { return "approximate"; }
  std::string_view operator()(const ZcdpEvent&) const { return "zcdp"; }
  std::string_view operator()(const TcdpEvent&) const { return "tcdp"; }
  std::string_view operator()(const GdpEvent&) const { return "gdp"; }
  std::string_view operator()(const GnmaxEvent&) const { return "gnmax"; }
  std::string_view operator()(const LnmaxEvent&) const { return "lnmax"; }
  std::string_view operator()(const SampledEvent&) const { return "sampled"; }
  std::string_view operator()(const ShuffledEvent&) const { return "shuffled"; }
  std::string_view operator()(const RepeatEvent&) const { return "repeat"; }
  std::string_view operator()(const ComposeEvent&) const { return "compose"; }
  std::string_view operator()(const ParallelEvent&) const { return "parallel"; }
  std::string_view operator()(const PrivateSelectionEvent&) const { return "private_selection"; }
};

}  // namespace

double GaussianEvent::noise_multiplier(Relation relation) const {
  return sigma / distance(sensitivity, basis, relation);
}
double LaplaceEvent::noise_multiplier(Relation relation) const {
  return scale / distance(sensitivity, basis, relation);
}

bool operator==(const SampledEvent& a, const SampledEvent& b) {
  return a.scheme == b.scheme && a.rate == b.rate && a.size == b.size &&
         a.population == b.population && same(a.event, b.event);
}
bool operator==(const ShuffledEvent& a, const ShuffledEvent& b) {
  return a.population == b.population && same(a.event, b.event);
}
bool operator==(const RepeatEvent& a, const RepeatEvent& b) {
  return a.count == b.count && same(a.event, b.event);
}
bool operator==(const ComposeEvent& a, const ComposeEvent& b) { return a.events == b.events; }
bool operator==(const ParallelEvent& a, const ParallelEvent& b) { return a.events == b.events; }
bool operator==(const PrivateSelectionEvent& a, const PrivateSelectionEvent& b) {
  return a.distribution == b.distribution && a.shape == b.shape && a.mean == b.mean &&
         same(a.event, b.event);
}

std::string_view name(Scheme scheme) {
  switch (scheme) {
    case Scheme::poisson: return "poisson";
    case Scheme::without_replacement: return "without_replacement";
    case Scheme::with_replacement: return "with_replacement";
  }
  return "poisson";
}

std::string_view name(SelectionDistribution distribution) {
  return distribution == SelectionDistribution::poisson ? "poisson" : "truncated_negative_binomial";
}

std::string_view Event::name() const { return std::visit(Namer{}, kind_); }
void Event::validate() const { std::visit(Validator{}, kind_); }

EventPtr share(Event event) { return std::make_shared<const Event>(std::move(event)); }

Event compose(std::vector<Event> events) {
  std::vector<Event> flat;
  for (Event& event : events) {
    if (const auto* inner = event.get_if<ComposeEvent>()) {
      flat.insert(flat.end(), inner->events.begin(), inner->events.end());
    } else {
      flat.push_back(std::move(event));
    }
  }
  if (flat.size() == 1) return flat.front();
  return ComposeEvent{std::move(flat)};
}

Event repeat(Event event, std::uint64_t count) {
  if (count == 1) return event;
  return RepeatEvent{count, share(std::move(event))};
}

Event poisson_sampled(Event event, double rate) {
  return SampledEvent{.scheme = Scheme::poisson, .rate = rate, .event = share(std::move(event))};
}

}  // namespace sotto
