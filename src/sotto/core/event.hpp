// Events: the one vocabulary of the project for what was done to private data.
//
// What       A closed variant that describes a mechanism (or a composition of mechanisms) with all
//            that an accountant needs.
//            Mechanisms and trainers emit events, accountants evaluate them, ledgers store them,
//            certificates quote them.
// Guarantee  None of its own: an event states a fact; accounting turns it into (ε, δ) under a
//            relation.
// Method     An Event that exists is valid: constructing one checks every parameter. JSON in and
//            out: event_json.hpp.
// Numerics   Plain doubles, exactly what the mechanism used; nothing is rounded here.
// Reference  docs/events.md lists every event with its JSON form and meaning.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <variant>
#include <vector>

#include "sotto/core/relation.hpp"

namespace sotto {

class Event;
using EventPtr = std::shared_ptr<const Event>;

// How a noise event states its sensitivity.
// contribution: the largest norm of one record's contribution (a clip norm); replace_one then moves
// the sum by twice that. exact: the distance between neighbours under the relation of the
// specification.
enum class Basis { contribution, exact };

// Gaussian noise of standard deviation sigma on a query of ℓ2-sensitivity `sensitivity`.
struct GaussianEvent {
  double sigma = 1, sensitivity = 1;
  Basis basis = Basis::exact;
  static GaussianEvent from_multiplier(double noise_multiplier) {
    return {noise_multiplier, 1, Basis::contribution};
  }
  double noise_multiplier(Relation relation) const;  // sigma ÷ distance between neighbours
  friend bool operator==(const GaussianEvent&, const GaussianEvent&) = default;
};

// Laplace noise of scale b on a query of ℓ1-sensitivity `sensitivity`.
struct LaplaceEvent {
  double scale = 1, sensitivity = 1;
  Basis basis = Basis::exact;
  static LaplaceEvent from_multiplier(double noise_multiplier) {
    return {noise_multiplier, 1, Basis::contribution};
  }
  double noise_multiplier(Relation relation) const;
  friend bool operator==(const LaplaceEvent&, const LaplaceEvent&) = default;
};

// Discrete Gaussian on the lattice granularity·ℤ^dimension: P(z) ∝ exp(−‖z‖²/(2σ²)).
// sigma, sensitivity (ℓ2, exact) and granularity are in the same unit.
struct DiscreteGaussianEvent {
  double sigma = 1, sensitivity = 1, granularity = 1;
  std::uint64_t dimension = 1;
  friend bool operator==(const DiscreteGaussianEvent&, const DiscreteGaussianEvent&) = default;
};

// Discrete Laplace on granularity·ℤ^dimension: P(z) ∝ exp(−‖z‖₁/scale); sensitivity in ℓ1, exact.
struct DiscreteLaplaceEvent {
  double scale = 1, sensitivity = 1, granularity = 1;
  std::uint64_t dimension = 1;
  friend bool operator==(const DiscreteLaplaceEvent&, const DiscreteLaplaceEvent&) = default;
};

// Gaussian noise on a query whose distance between neighbours is itself random: sensitivities[i]
// with probability probabilities[i].
// (User-level sampling, matrix mechanisms.) Sensitivities are contributions; replace_one is not
// defined for it.
struct GaussianMixtureEvent {
  double sigma = 1;
  std::vector<double> sensitivities, probabilities;
  friend bool operator==(const GaussianMixtureEvent&, const GaussianMixtureEvent&) = default;
};

// k-ary randomized response with e^ε odds for the truth: ε-DP for any change of the input.
struct RandomizedResponseEvent {
  double epsilon = 1;
  std::uint64_t categories = 2;
  friend bool operator==(const RandomizedResponseEvent&, const RandomizedResponseEvent&) = default;
};

// A mechanism of ε-bounded range (exponential mechanism, report-noisy-max with Gumbel noise; not
// permute-and-flip, which is only ε-DP).
struct ExponentialEvent {
  double epsilon = 1;
  friend bool operator==(const ExponentialEvent&, const ExponentialEvent&) = default;
};

struct PureEvent {
  double epsilon = 1;
  friend bool operator==(const PureEvent&, const PureEvent&) = default;
};
struct ApproximateEvent {
  double epsilon = 1, delta = 1e-6;
  friend bool operator==(const ApproximateEvent&, const ApproximateEvent&) = default;
};
struct ZcdpEvent {
  double rho = 0.5;
  friend bool operator==(const ZcdpEvent&, const ZcdpEvent&) = default;
};
// Truncated concentrated DP: Rényi divergence of order α at most ρα for 1 < α < ω.
struct TcdpEvent {
  double rho = 0.5, omega = 10;
  friend bool operator==(const TcdpEvent&, const TcdpEvent&) = default;
};
struct GdpEvent {
  double mu = 1;
  friend bool operator==(const GdpEvent&, const GdpEvent&) = default;
};

// One answer of PATE, accounted independently of the votes: argmax of votes plus Gaussian (Laplace)
// noise.
struct GnmaxEvent {
  double sigma = 40;
  friend bool operator==(const GnmaxEvent&, const GnmaxEvent&) = default;
};
struct LnmaxEvent {
  double scale = 20;
  friend bool operator==(const LnmaxEvent&, const LnmaxEvent&) = default;
};

enum class Scheme { poisson, without_replacement, with_replacement };
std::string_view name(Scheme scheme);

// An event run on a random sample. poisson: each record with probability `rate`; otherwise `size`
// of `population` records.
struct SampledEvent {
  Scheme scheme = Scheme::poisson;
  double rate = 1;                         // poisson only
  std::uint64_t size = 0, population = 0;  // the fixed-size schemes only
  EventPtr event;
  friend bool operator==(const SampledEvent&, const SampledEvent&);
};

// Reports of `population` users, each made by a local randomizer (event), seen only after a uniform
// shuffle.
struct ShuffledEvent {
  std::uint64_t population = 1;
  EventPtr event;
  friend bool operator==(const ShuffledEvent&, const ShuffledEvent&);
};

struct RepeatEvent {
  std::uint64_t count = 1;
  EventPtr event;
  friend bool operator==(const RepeatEvent&, const RepeatEvent&);
};
struct ComposeEvent {
  std::vector<Event> events;
  friend bool operator==(const ComposeEvent&, const ComposeEvent&);
};
// Events on declared-disjoint parts of the records: one record is in at most one part.
struct ParallelEvent {
  std::vector<Event> events;
  friend bool operator==(const ParallelEvent&, const ParallelEvent&);
};

enum class SelectionDistribution { truncated_negative_binomial, poisson };
std::string_view name(SelectionDistribution distribution);

// K runs of the event, K drawn from the distribution with the given mean, and only the best one
// released.
struct PrivateSelectionEvent {
  SelectionDistribution distribution = SelectionDistribution::truncated_negative_binomial;
  double shape = 1;  // truncated_negative_binomial only; 1 = geometric, 0 = logarithmic
  double mean = 10;
  EventPtr event;
  friend bool operator==(const PrivateSelectionEvent&, const PrivateSelectionEvent&);
};

class Event {
 public:
  using Kind = std::variant<GaussianEvent, LaplaceEvent, DiscreteGaussianEvent,
                            DiscreteLaplaceEvent, GaussianMixtureEvent, RandomizedResponseEvent,
                            ExponentialEvent, PureEvent, ApproximateEvent, ZcdpEvent, TcdpEvent,
                            GdpEvent, GnmaxEvent, LnmaxEvent, SampledEvent, ShuffledEvent,
                            RepeatEvent, ComposeEvent, ParallelEvent, PrivateSelectionEvent>;

  // Throws InvalidArgument when a parameter is out of range. Implicit on purpose: an event is its
  // kind. It hides no copy: the constraint leaves events themselves out.
  template <class T>
  requires std::is_constructible_v<Kind, T> &&
      (!std::is_same_v<std::remove_cvref_t<T>, Event>)Event(T&& kind)  // NOLINT
      : kind_(std::forward<T>(kind)) {
    validate();
  }

  const Kind& kind() const { return kind_; }
  template <class T>
  const T* get_if() const {
    return std::get_if<T>(&kind_);
  }
  std::string_view name() const;  // the JSON key: "gaussian", "sampled", …
  friend bool operator==(const Event&, const Event&) = default;

 private:
  void validate() const;
  Kind kind_;
};

// The usual shorthands.
Event compose(std::vector<Event> events);  // flattens; an empty list is allowed and costs nothing
Event repeat(Event event, std::uint64_t count);  // count 1 gives the event itself
Event poisson_sampled(Event event, double rate);
EventPtr share(Event event);

// Visitor helper: std::visit(overloaded{…}, event.kind()).
template <class... Ts>
struct overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
overloaded(Ts...) -> overloaded<Ts...>;

}  // namespace sotto
