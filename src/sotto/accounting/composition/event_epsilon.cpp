#include "sotto/accounting/composition/detail/event_epsilon.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/accounting/composition/amplification.hpp"
#include "sotto/accounting/composition/detail/apart.hpp"
#include "sotto/accounting/composition/detail/simple_mechanism.hpp"
#include "sotto/accounting/composition/group.hpp"
#include "sotto/accounting/composition/run_length.hpp"
#include "sotto/accounting/composition/shuffle.hpp"
#include "sotto/accounting/detail/refusal.hpp"
#include "sotto/accounting/numeric/detail/outward.hpp"
#include "sotto/accounting/numeric/detail/search.hpp"
#include "sotto/accounting/numeric/gaussian_dp.hpp"
#include "sotto/accounting/renyi/renyi.hpp"

namespace sotto {
namespace {

double by_renyi(const Event& event, Relation relation, double delta) {
  if (delta <= 0) return kInfinity;
  const RenyiCurve curve(event, relation);
  const double room = curve.delta() == 0 ? delta : next_down(delta - curve.delta());
  if (!(room > 0)) return kInfinity;
  return best_epsilon([&](double a) { return curve(a); }, Delta(room), curve.largest_order()).value;
}

double by_renyi_or_infinity(const Event& event, Relation relation, double delta) {
  try {
    return by_renyi(event, relation, delta);
  } catch (const Unsupported&) {
    return kInfinity;
  }
}

// All of a composition at once, or each mechanism with an equal share of δ; whichever is smaller.
double composition(const std::vector<Run>& runs, const Event& event, Relation relation,
                   double delta) {
  double shares = 0, natural = 0;
  for (const Run& r : runs) {
    const auto pair = pure_parameters(r.event, relation);
    (pair ? natural : shares) += static_cast<double>(r.count) * (pair ? pair->delta : 1);
  }
  const double share = shares == 0 ? 0 : widen_down((delta - natural) / shares, 1e-15);
  double sum = natural > delta || share < 0 ? kInfinity : 0;
  for (const Run& r : runs) {
    if (!std::isfinite(sum)) break;
    const auto pair = pure_parameters(r.event, relation);
    const double one = pair ? pair->epsilon : event_epsilon(r.event, relation, share);
    sum = add_up(sum, multiply_up(one, static_cast<double>(r.count)));
  }
  return std::min(sum, by_renyi_or_infinity(event, relation, delta));
}

double poisson(const SampledEvent& e, Relation relation, double delta) {
  const double inner_delta = delta == 0 ? 0 : delta / e.rate * (1 - 4 * kUlp);
  const double inner = inner_delta >= 1 ? 0 : event_epsilon(*e.event, relation, inner_delta);
  if (e.rate == 1) return inner;
  if (relation == Relation::replace_one) {
    // A sample with the record must be compared to one without it as well; only noise on contributions covers that.
    const auto* g = e.event->get_if<GaussianEvent>();
    const auto* l = e.event->get_if<LaplaceEvent>();
    if (!(g && g->basis == Basis::contribution) && !(l && l->basis == Basis::contribution))
      return inner;
  }
  return amplified_epsilon(inner, e.rate);
}

double without_replacement(const SampledEvent& e, Relation relation, double delta) {
  require_public_size(e, relation);
  const double q = fixed_size_rate(e), inner_delta = delta / q * (1 - 4 * kUlp);
  if (inner_delta >= 1) return 0;
  // Under zero_out a sample without the record holds another, two steps away; or everyone may see whether it was drawn.
  const auto replaced = seen_from_afar(*e.event, relation, {1, steps_of_replacing(relation)});
  const double amplified =
      replaced ? amplified_epsilon(event_epsilon(*replaced, relation, inner_delta), q) : kInfinity;
  if (relation == Relation::replace_one) return amplified;
  return std::min(amplified, event_epsilon(*e.event, relation, inner_delta));
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

double with_replacement(const SampledEvent& e, Relation relation, double delta) {
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
  // k draws of the record are k steps from as many null ones, and k·span steps from a sample that holds others instead.
  const auto at = [&](double base, std::uint64_t steps) {
    return amplify_with_replacement(
        base, [&](std::uint64_t k, double eps) { return group_delta(k * steps, eps); }, e.size,
        e.population);
  };
  const double base = smallest_base([&](double x) { return at(x, span).delta; }, delta, largest);
  const double amplified = std::isfinite(base) ? at(base, span).epsilon : kInfinity;
  if (span == 1) return amplified;
  return std::min(amplified,
                  smallest_base([&](double x) { return at(x, 1).delta; }, delta, largest));
}

// K runs with an inner failure probability d: both hypotheses are within E[K]·d in total variation of runs without failures, so
// δ(ε) grows by (1 + e^ε)·E[K]·d.
double selection(const PrivateSelectionEvent& e, Relation relation, double delta) {
  const auto pair = pure_parameters(*e.event, relation);
  if (!pair || pair->delta == 0) return by_renyi(e, relation, delta);
  if (delta <= 0) return kInfinity;
  PrivateSelectionEvent clean = e;
  clean.event = share(PureEvent{pair->epsilon});
  const RenyiCurve curve(clean, relation);
  const double failures = e.mean * pair->delta;
  const auto total = [&](double eps) {
    const double own =
        best_delta([&](double a) { return curve(a); }, eps, curve.largest_order()).value;
    return own + (1 + std::exp(eps)) * failures;
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
}

double parallel(const ParallelEvent& e, Relation relation, double delta) {
  // Two parts share δ when a record leaves one and enters the other.
  return parallel_cost(e, relation, [&](const Event& part, Relation r) {
    return event_epsilon(part, r, r == relation || e.events.size() == 1 ? delta : delta / 2);
  });
}

double shuffled(const ShuffledEvent& e, Relation relation, double delta) {
  if (relation == Relation::add_remove) {
    refuse_relation(
        "shuffled", relation,
        "replace_one or zero_out (one user changes the answer, the number of users is public)");
  }
  const auto pair = pure_parameters(*e.event, relation);
  if (!pair || pair->delta > 0)
    refuse("basic, advanced and optimal", "shuffled around a local randomizer that is not pure",
           "");
  if (delta <= 0) return pair->epsilon;
  // Two inputs are as close as an input and the null one only where any change is one step.
  const bool any_two = steps_between(*e.event, {1, steps_of_replacing(relation)}) == 1;
  return shuffle_epsilon(pair->epsilon, e.population, Delta(delta),
                         any_two ? LocalGuarantee::any_two_inputs : LocalGuarantee::input_and_null)
      .upper;
}

}  // namespace

double event_epsilon(const Event& event, Relation relation, double delta) {
  const auto runs = run_lengths(event);
  if (runs.empty()) return 0;
  if (runs.size() > 1 || runs[0].count > 1) return composition(runs, event, relation, delta);
  const Event& one = runs[0].event;
  if (const auto pair = pure_parameters(one, relation))
    return delta >= pair->delta ? pair->epsilon : kInfinity;
  if (const auto mu = gdp_parameter(one, relation)) {
    if (*mu == 0) return 0;
    return delta > 0 ? gaussian_epsilon_upper(*mu, Delta(delta)) : kInfinity;
  }
  if (const auto* e = one.get_if<SampledEvent>()) {
    switch (e->scheme) {
      case Scheme::poisson: return poisson(*e, relation, delta);
      case Scheme::without_replacement: return without_replacement(*e, relation, delta);
      case Scheme::with_replacement: return with_replacement(*e, relation, delta);
    }
  }
  if (const auto* e = one.get_if<ParallelEvent>()) return parallel(*e, relation, delta);
  if (const auto* e = one.get_if<ShuffledEvent>()) return shuffled(*e, relation, delta);
  if (const auto* e = one.get_if<PrivateSelectionEvent>()) return selection(*e, relation, delta);
  return by_renyi(one, relation, delta);
}

}  // namespace sotto
