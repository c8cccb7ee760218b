#include "sotto/accounting/composition/detail/event_epsilon.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <optional>

#include "sotto/accounting/composition/amplification.hpp"
#include "sotto/accounting/composition/detail/apart.hpp"
#include "sotto/accounting/composition/detail/selection_profile.hpp"
#include "sotto/accounting/composition/detail/shuffle_account.hpp"
#include "sotto/accounting/composition/detail/simple_mechanism.hpp"
#include "sotto/accounting/composition/group.hpp"
#include "sotto/accounting/composition/run_length.hpp"
#include "sotto/accounting/detail/refusal.hpp"
#include "sotto/accounting/pld/pld_accountant.hpp"
#include "sotto/accounting/renyi/detail/renyi_selection.hpp"
#include "sotto/accounting/renyi/detail/renyi_table.hpp"
#include "sotto/accounting/renyi/renyi.hpp"
#include "sotto/core/numeric/gaussian_dp.hpp"
#include "sotto/core/numeric/outward.hpp"
#include "sotto/core/numeric/search.hpp"

namespace sotto {
namespace {

// The Rényi curve of an event, built when first asked for; its divergences are kept, so that many δ
// cost little more than one.
class ByRenyi {
 public:
  ByRenyi(const Event& event, Relation relation)
      : state_(std::make_shared<State>(event, relation)) {}

  double operator()(double delta) const {
    if (delta <= 0) return kInfinity;
    const State& s = curve();
    const double room = s.failure == 0 ? delta : next_down(delta - s.failure);
    if (!(room > 0)) return kInfinity;
    return best_epsilon(s.divergence, Delta(room), s.largest_order).value;
  }
  double delta(double epsilon) const {
    const State& s = curve();
    return best_delta(s.divergence, epsilon, s.largest_order).value;
  }

 private:
  struct State {
    State(const Event& e, Relation r) : event(e), relation(r) {}
    Event event;
    Relation relation;
    RenyiBound divergence = nullptr;
    double failure = 0, largest_order = 0;
    std::mutex mutex;  // of making it
  };
  const State& curve() const {
    State& s = *state_;
    const std::scoped_lock lock(s.mutex);
    if (!s.divergence) {
      const RenyiCurve curve(s.event, s.relation);
      s.failure = curve.delta();
      s.largest_order = curve.largest_order();
      s.divergence = curve.costly() ? tabulated(curve) : curve;
    }
    return s;
  }
  std::shared_ptr<State> state_;
};

// All of a composition at once, or each mechanism with an equal share of δ; whichever is smaller.
EpsilonCurve composition(const std::vector<Run>& runs, const Event& event, Relation relation) {
  struct Part {
    double count;
    std::optional<ApproximateDp> pair;
    EpsilonCurve curve;
  };
  std::vector<Part> parts;
  double shares = 0, natural = 0;
  for (const Run& r : runs) {
    Part part{static_cast<double>(r.count), pure_parameters(r.event, relation), nullptr};
    (part.pair ? natural : shares) += part.count * (part.pair ? part.pair->delta : 1);
    if (!part.pair) part.curve = epsilon_curve(r.event, relation);
    parts.push_back(std::move(part));
  }
  return [=, whole = ByRenyi(event, relation)](double delta) {
    const double share = shares == 0 ? 0 : widen_down((delta - natural) / shares, 1e-15);
    double sum = natural > delta || share < 0 ? kInfinity : 0;
    for (const Part& p : parts) {
      if (!std::isfinite(sum)) break;
      sum = add_up(sum, multiply_up(p.pair ? p.pair->epsilon : p.curve(share), p.count));
    }
    try {
      return std::min(sum, whole(delta));
    } catch (const Unsupported&) {
      return sum;
    }
  };
}

EpsilonCurve poisson(const SampledEvent& e, Relation relation) {
  // Under replace_one a sample with the record must be compared to one without it as well; only
  // noise on contributions covers that.
  const auto* g = e.event->get_if<GaussianEvent>();
  const auto* l = e.event->get_if<LaplaceEvent>();
  const bool amplified =
      e.rate < 1 && (relation != Relation::replace_one || (g && g->basis == Basis::contribution) ||
                     (l && l->basis == Basis::contribution));
  return [rate = e.rate, amplified, inner = epsilon_curve(*e.event, relation)](double delta) {
    const double inner_delta = delta == 0 ? 0 : delta / rate * (1 - 4 * kUlp);
    const double epsilon = inner_delta >= 1 ? 0 : inner(inner_delta);
    return amplified ? amplified_epsilon(epsilon, rate) : epsilon;
  };
}

EpsilonCurve without_replacement(const SampledEvent& e, Relation relation) {
  require_public_size(e, relation);
  // Under zero_out a sample without the record holds another, two steps away; or everyone may see
  // whether it was drawn.
  const auto replaced = seen_from_afar(*e.event, relation, {1, steps_of_replacing(relation)});
  const EpsilonCurve far = replaced ? epsilon_curve(*replaced, relation) : nullptr;
  const EpsilonCurve near =
      relation == Relation::replace_one ? nullptr : epsilon_curve(*e.event, relation);
  return [q = fixed_size_rate(e), far, near](double delta) {
    const double inner_delta = delta / q * (1 - 4 * kUlp);
    if (inner_delta >= 1) return 0.0;
    const double amplified = far ? amplified_epsilon(far(inner_delta), q) : kInfinity;
    return near ? std::min(amplified, near(inner_delta)) : amplified;
  };
}

// The smallest base ε at which δ(ε), falling, is at most delta; +∞ beyond `largest`.
double smallest_base(const std::function<double(double)>& delta_at, double delta, double largest) {
  const auto excess = [&](double x) {
    const double d = delta_at(std::exp(x));
    if (d <= delta) return -1.0;
    return delta > 0 ? std::log(d / delta) : 1.0;
  };
  double low = -20, high = 1;
  while (excess(high) > 0) {
    if (std::exp(high) > 1e6 || std::exp(high) > 2 * largest) return kInfinity;
    high += 1;
  }
  if (excess(low) <= 0) return std::exp(low);
  return std::exp(narrow(excess, low, high, 1e-12).high);
}

EpsilonCurve with_replacement(const SampledEvent& e, Relation relation) {
  require_public_size(e, relation);
  std::function<double(std::uint64_t, double)> group_delta;  // for neighbours so many steps apart
  double largest = kInfinity;
  const std::uint64_t span = steps_between(*e.event, {1, steps_of_replacing(relation)});
  if (const auto mu = gdp_parameter(*e.event, relation)) {
    group_delta = [mu = *mu](std::uint64_t k, double eps) {
      return gaussian_delta_upper(group_mu(mu, k), eps);
    };
  } else if (const auto pair = pure_parameters(*e.event, relation)) {
    group_delta = [p = *pair](std::uint64_t k, double eps) { return group_delta_at(p, k, eps); };
    largest = pair->epsilon * static_cast<double>(e.size) * static_cast<double>(span);
  } else {
    refuse("basic, advanced and optimal",
           std::string("sampled with_replacement around ") + std::string(e.event->name()), "pld");
  }
  // k draws of the record are k steps from as many null ones, and k·span steps from a sample that
  // holds others instead.
  const auto at = [group_delta, size = e.size, population = e.population](double base,
                                                                          std::uint64_t steps) {
    return amplify_with_replacement(
        base, [&](std::uint64_t k, double eps) { return group_delta(k * steps, eps); }, size,
        population);
  };
  return [at, span, largest](double delta) {
    const auto smallest = [&](std::uint64_t steps) {
      return smallest_base([&](double x) { return at(x, steps).delta; }, delta, largest);
    };
    const double base = smallest(span);
    const double amplified = std::isfinite(base) ? at(base, span).epsilon : kInfinity;
    return span == 1 ? amplified : std::min(amplified, smallest(1));
  };
}

// Runs that are ε-DP make the best of a truncated negative binomial number of them (2 + η)ε-DP: the
// limit of the Rényi bound at infinite orders, where the number of runs no longer counts [PS22].
double pure_selection(const PrivateSelectionEvent& e, Relation relation) {
  if (e.distribution != SelectionDistribution::truncated_negative_binomial) return kInfinity;
  double sum = 0;
  try {
    for (const Run& run : run_lengths(*e.event))
      sum = add_up(
          sum, multiply_up(event_epsilon(run.event, relation, 0), static_cast<double>(run.count)));
  } catch (const Unsupported&) {
    return kInfinity;
  }
  return e.mean == 1 ? sum : widen_up((2 + e.shape) * sum, 4 * kUlp);
}

// The best of K runs by the privacy profile of one. With F the probability that a run is at most y
// and φ the generating function of K, the best has φ'(F) times the density of one run, φ' ≤ E[K].
// Between neighbours φ'(F) changes by a factor of at most e^c: truncated negative binomial,
// c = (1 + η)·ln(e^ε̂ + (1 − γ)/γ·δ̂) for any (ε̂, δ̂) of one run; Poisson, c = E[K]·δ̂ at ε̂ = 0.
// So δ(ε + c) ≤ E[K]·δ₁(ε) (docs/math/tuning.md). Of Gaussian runs more is known
// (selection_profile.hpp).
class ByProfile {
 public:
  ByProfile(const PrivateSelectionEvent& e, Relation relation)
      : state_(std::make_shared<State>(e, relation)) {}

  double operator()(double delta) const {
    const PrivateSelectionEvent& e = state_->selection;
    // Of these nothing but a Rényi curve is known: no profile says more. The profile of parallel
    // parts takes too long to be asked for at many δ.
    for (const Run& run : run_lengths(*e.event))
      if (run.event.get_if<ZcdpEvent>() || run.event.get_if<TcdpEvent>() ||
          run.event.get_if<ParallelEvent>())
        return kInfinity;
    const double room = next_down(delta / std::max(1.0, e.mean));
    if (!(room > 0 && room < 1)) return kInfinity;
    const std::scoped_lock lock(state_->mutex);
    try {
      if (const auto run = gaussian_run())
        if (const double known = sharp(*run, delta); known < kLargestSharp) return known;
      return e.mean == 1 && tnb() ? one(delta) : widen_up(add_up(one(room), shift()), 8 * kUlp);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::internal || error.code() == ErrorCode::interrupted) throw;
      return kInfinity;  // runs whose loss distribution is not known
    }
  }

 private:
  static constexpr double kTolerance = 1e-3, kGlance = 2e-2;
  static constexpr double kLargestSharp = 20;  // beyond, chords are few and the other is as good
  struct State {
    State(const PrivateSelectionEvent& e, Relation relation)
        : selection(e), run{relation, {*e.event}} {}
    PrivateSelectionEvent selection;
    Spec run;
    std::mutex mutex;  // of what is made when it is first asked for, and of the account's own notes
    double shift = -1;
    std::optional<PldAccount> account = std::nullopt;  // of one run, made when it is first asked
    std::optional<SelectionProfile> sharp = std::nullopt;
  };
  bool tnb() const {
    return state_->selection.distribution == SelectionDistribution::truncated_negative_binomial;
  }
  const PldAccount& account() const {
    if (!state_->account) state_->account.emplace(state_->run);
    return *state_->account;
  }
  // A run that is one Gaussian, up to a failure: its profile has a closed form, so that it can be
  // asked for at many ε.
  struct GaussianRun {
    double mu = 0, failure = 0;
  };
  std::optional<GaussianRun> gaussian_run() const {
    GaussianRun out;
    std::vector<Event> others;
    for (const Run& run : run_lengths(*state_->selection.event)) {
      if (const auto* a = run.event.get_if<ApproximateEvent>(); a != nullptr && a->epsilon == 0)
        out.failure = add_up(out.failure, multiply_up(a->delta, static_cast<double>(run.count)));
      else
        others.push_back(repeat(run.event, run.count));
    }
    if (others.empty()) return std::nullopt;
    const auto mu = gdp_parameter(compose(std::move(others)), state_->run.relation);
    if (!mu) return std::nullopt;
    out.mu = *mu;
    return out;
  }
  double sharp(const GaussianRun& run, double delta) const {
    State& s = *state_;
    if (!s.sharp) {
      s.sharp.emplace(s.selection, [run](double epsilon) {
        return std::min(1.0, add_up(run.failure, gaussian_delta_upper(run.mu, epsilon)));
      });
    }
    return widen_up(s.sharp->epsilon(delta), 8 * kUlp);
  }
  double one(double delta, double tolerance = kTolerance) const {
    return account().epsilon(Delta(delta), tolerance, Wanted::upper).upper;
  }
  double shift() const {
    State& s = *state_;
    if (s.shift >= 0) return s.shift;
    if (!tnb())
      return s.shift = multiply_up(s.selection.mean, account().delta(0, kTolerance).upper);
    const double odds =
        widen_up(std::expm1(truncated_negative_binomial_cost(s.selection.shape, s.selection.mean)),
                 8 * kUlp);  // (1 − γ)/γ
    s.shift = kInfinity;
    // Any (ε̂, δ̂) is sound: a few are tried, roughly, and the best is asked for again.
    const auto cost = [&](double share, double tolerance) {
      const double failure = share / std::max(1.0, odds);
      const double c = (1 + s.selection.shape) *
                       std::log1p(std::expm1(one(failure, tolerance)) + odds * failure);
      return widen_up(c, 16 * kUlp);
    };
    double best = 0.5;
    for (double share = 0.5; share > 1e-5; share /= 4) {
      const double c = cost(share, kGlance);
      if (c > 1.5 * s.shift) break;
      if (c < s.shift) s.shift = c, best = share;
    }
    for (double share : {best, best / 2}) s.shift = std::min(s.shift, cost(share, kTolerance));
    return s.shift;
  }
  std::shared_ptr<State> state_;
};

// K runs with an inner failure probability d: both hypotheses are within E[K]·d in total variation
// of runs without failures, so δ(ε) grows by (1 + e^ε)·E[K]·d.
EpsilonCurve selection(const PrivateSelectionEvent& e, Relation relation) {
  const auto pair = pure_parameters(*e.event, relation);
  if (!pair || pair->delta == 0)
    return [renyi = ByRenyi(e, relation), profile = ByProfile(e, relation),
            pure = pure_selection(e, relation)](double delta) {
      if (delta <= 0) return pure;
      const double other = std::min(pure, profile(delta));
      try {
        return std::min(other, renyi(delta));
      } catch (const Unsupported&) {  // runs that have no Rényi curve
        if (!std::isfinite(other)) throw;
        return other;
      }
    };
  PrivateSelectionEvent clean = e;
  clean.event = share(PureEvent{pair->epsilon});
  return [curve = ByRenyi(clean, relation), failures = e.mean * pair->delta](double delta) {
    if (delta <= 0) return kInfinity;
    const auto total = [&](double eps) {
      return curve.delta(eps) + (1 + std::exp(eps)) * failures;
    };
    // The total falls and then rises with ε; take the first ε that fits.
    double previous = 0;
    for (double eps = 1e-3; eps < 100; eps *= 1.25) {
      if (total(eps) <= delta) {
        return narrow([&](double x) { return total(x) - delta; }, previous, eps, 1e-9).high;
      }
      previous = eps;
    }
    return kInfinity;
  };
}

EpsilonCurve parallel(const ParallelEvent& e, Relation relation) {
  std::vector<EpsilonCurve> stays, moves;
  for (const Event& part : e.events) {
    stays.push_back(epsilon_curve(part, relation));
    if (relation == Relation::replace_one)
      moves.push_back(epsilon_curve(part, Relation::add_remove));
  }
  return [stays, moves](double delta) {
    const auto all = [](const std::vector<EpsilonCurve>& curves, double d) {
      std::vector<double> values;
      for (const EpsilonCurve& c : curves) values.push_back(c(d));
      return values;
    };
    // Two parts share δ when a record leaves one and enters the other.
    return parallel_cost(all(stays, delta), all(moves, moves.size() == 1 ? delta : delta / 2));
  };
}

EpsilonCurve shuffled(const ShuffledEvent& e, Relation relation) {
  return [known = ShuffledGuarantee(e, relation, false)](double delta) {
    return known.epsilon_upper(delta);
  };
}

}  // namespace

EpsilonCurve epsilon_curve(const Event& event, Relation relation) {
  const auto runs = run_lengths(event);
  if (runs.empty()) return [](double) { return 0.0; };
  if (runs.size() > 1 || runs[0].count > 1) return composition(runs, event, relation);
  const Event& one = runs[0].event;
  if (const auto pair = pure_parameters(one, relation)) {
    return [p = *pair](double delta) { return delta >= p.delta ? p.epsilon : kInfinity; };
  }
  if (const auto mu = gdp_parameter(one, relation)) {
    return [mu = *mu](double delta) {
      if (mu == 0) return 0.0;
      return delta > 0 ? gaussian_epsilon_upper(mu, Delta(delta)) : kInfinity;
    };
  }
  if (const auto* e = one.get_if<SampledEvent>()) {
    switch (e->scheme) {
      case Scheme::poisson: return poisson(*e, relation);
      case Scheme::without_replacement: return without_replacement(*e, relation);
      case Scheme::with_replacement: return with_replacement(*e, relation);
    }
  }
  if (const auto* e = one.get_if<ParallelEvent>()) return parallel(*e, relation);
  if (const auto* e = one.get_if<ShuffledEvent>()) return shuffled(*e, relation);
  if (const auto* e = one.get_if<PrivateSelectionEvent>()) return selection(*e, relation);
  return ByRenyi(one, relation);
}

double event_epsilon(const Event& event, Relation relation, double delta) {
  return epsilon_curve(event, relation)(delta);
}

}  // namespace sotto
