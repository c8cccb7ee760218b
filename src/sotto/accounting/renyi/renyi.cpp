#include "sotto/accounting/renyi/renyi.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/accounting/composition/amplification.hpp"
#include "sotto/accounting/composition/detail/apart.hpp"
#include "sotto/accounting/composition/detail/simple_mechanism.hpp"
#include "sotto/accounting/composition/run_length.hpp"
#include "sotto/accounting/detail/refusal.hpp"
#include "sotto/accounting/renyi/detail/renyi_sampled.hpp"
#include "sotto/accounting/renyi/detail/renyi_selection.hpp"
#include "sotto/accounting/renyi/detail/renyi_table.hpp"
#include "sotto/accounting/renyi/renyi_mechanisms.hpp"
#include "sotto/core/numeric/gaussian_dp.hpp"
#include "sotto/core/numeric/outward.hpp"

namespace sotto {
namespace {

// The curve of one mechanism.
struct Single {
  RenyiBound divergence;
  double delta = 0;
  double largest_order = kLargestOrder;
};

Single single(const Event& event, Relation relation);

Single linear(double rho) {
  return {[rho](double a) { return widen_up(rho * a, 2 * kUlp); }};
}

Single from_curve(const Event& event, Relation relation) {
  const auto runs = run_lengths(event);
  if (runs.size() == 1 && runs[0].count == 1) return single(runs[0].event, relation);
  const auto curve = std::make_shared<RenyiCurve>(event, relation);
  return {[curve](double a) { return (*curve)(a); }, curve->delta(), curve->largest_order()};
}

// Events whose divergence is a quadrature or a long sum.
bool costly_order(const Event& event) {
  return event.get_if<SampledEvent>() || event.get_if<GaussianMixtureEvent>() ||
         event.get_if<DiscreteLaplaceEvent>() || event.get_if<ParallelEvent>() ||
         event.get_if<PrivateSelectionEvent>();
}

// The curve of what runs inside another mechanism, whose own curve asks it at hundreds of orders:
// quadratures and sums are kept.
Single inner_curve(const Event& event, Relation relation) {
  Single inner = from_curve(event, relation);
  if (std::ranges::any_of(run_lengths(event),
                          [](const Run& run) { return costly_order(run.event); }))
    inner.divergence = tabulated(std::move(inner.divergence));
  return inner;
}

Single approximate(double epsilon, double delta) {
  return {[epsilon](double a) { return renyi_pure(epsilon, a); }, delta};
}

Single poisson(const SampledEvent& e, Relation relation) {
  const double q = e.rate;
  if (q == 1) return from_curve(*e.event, relation);
  const bool replace = relation == Relation::replace_one;
  const auto runs = run_lengths(*e.event);
  const Event* inner = runs.size() == 1 && runs[0].count == 1 ? &runs[0].event : nullptr;
  if (inner) {
    if (const auto* g = inner->get_if<GaussianEvent>()) {
      if (!replace) {
        const double s = g->noise_multiplier(relation);
        return {[q, s](double a) { return renyi_sampled_gaussian(q, s, a); }, 0,
                kLargestSampledOrder};
      }
      if (g->basis == Basis::contribution) {
        const double s = g->noise_multiplier(Relation::add_remove);
        return {[q, s](double a) { return renyi_sampled_gaussian_replace(q, s, a); }, 0,
                kLargestSampledOrder};
      }
    }
    if (const auto* d = inner->get_if<DiscreteGaussianEvent>(); d && !replace) {
      // Whole powers of the likelihood ratio have the moments of the continuous law
      // (docs/math/renyi.md), so the bound at integers is the Gaussian's.
      const double s = widen_down(d->sigma / d->sensitivity, 2 * kUlp);
      return {[q, s](double a) {
                return interpolate_integer_orders(
                    [&](std::uint64_t k) {
                      return renyi_sampled_gaussian(q, s, static_cast<double>(k));
                    },
                    a);
              },
              0, kLargestSampledOrder};
    }
    if (const auto* m = inner->get_if<GaussianMixtureEvent>(); m && !replace) {
      auto shifts = scaled_shifts(*m);
      auto weights = m->probabilities;
      double total = 0;
      for (double w : weights) total += w;
      for (double& w : weights) w *= q / total;
      shifts.push_back(0), weights.push_back(1 - q);
      return {[shifts, weights](double a) { return renyi_gaussian_mixture(shifts, weights, a); }, 0,
              1e4};
    }
    if (const auto* l = inner->get_if<LaplaceEvent>(); l && !replace) {
      const double t = 1 / l->noise_multiplier(relation);
      return {[q, t](double a) { return renyi_sampled_laplace(q, t, a); }, 0, 1e4};
    }
    if (const auto pure = pure_parameters(*inner, relation); pure && !replace) {
      // The sampled worst ε-DP mechanism is a pair of three losses; exact.
      const double epsilon = pure->epsilon, low = 1 / (1 + std::exp(epsilon)),
                   log_high = -std::log1p(std::exp(-epsilon));
      const std::vector<RatioAtom> atoms = {{low, epsilon, log_high - epsilon},
                                            {1 - low, -epsilon, log_high}};
      return {[q, atoms](double a) { return renyi_of_atoms(atoms, q, a); },
              multiply_up(q, pure->delta)};
    }
  }
  const Single base = inner_curve(*e.event, relation);
  if (replace) {
    // Contribution noise apart, nothing relates a sample with the record to one without it: only
    // convexity is left.
    return {[q, base](double a) { return renyi_sampled_convex(q, base.divergence(a), a); },
            base.delta, base.largest_order};
  }
  return {renyi_sampled_general(q, base.divergence), base.delta,
          std::min(base.largest_order, kLargestSampledOrder / 10)};
}

// A sample of fixed size whose mechanism bears the replacement of one of its records.
Single by_replacing(double q, const Event& event, Relation relation) {
  const auto runs = run_lengths(event);
  const Event* inner = runs.size() == 1 && runs[0].count == 1 ? &runs[0].event : nullptr;
  if (inner) {
    if (const auto* g = inner->get_if<GaussianEvent>()) {
      return {renyi_without_replacement_gaussian(q, g->noise_multiplier(relation)), 0, 1e4};
    }
    if (const auto pure = pure_parameters(*inner, relation); pure && pure->delta > 0) {
      const ApproximateDp small = amplify_fixed_size(*pure, q);
      return approximate(small.epsilon, small.delta);
    }
  }
  const Single base = inner_curve(event, relation);
  if (base.delta > 0) {
    refuse("rdp", "sampled without replacement around a composition with a failure probability",
           "basic, advanced, optimal");
  }
  const auto pure = inner ? pure_parameters(*inner, relation) : std::nullopt;
  return {renyi_without_replacement(q, base.divergence, pure ? pure->epsilon : kInfinity), 0,
          std::min(base.largest_order, 1e4)};
}

Single without_replacement(const SampledEvent& e, Relation relation) {
  require_public_size(e, relation);
  const double q = fixed_size_rate(e);
  if (relation == Relation::replace_one) return by_replacing(q, *e.event, relation);
  // Zeroing a record out is one step where it was drawn; a sample without it holds another record,
  // two steps away.
  const Single near = inner_curve(*e.event, relation);
  const auto replaced = seen_from_afar(*e.event, relation, {1, steps_of_replacing(relation)});
  if (near.delta > 0) {
    if (!replaced) {
      refuse("rdp", "sampled without replacement under zero_out around such an event",
             "basic, advanced, optimal");
    }
    return by_replacing(q, *replaced, relation);
  }
  const auto revealed = [q, near](double a) {
    return renyi_sampled_convex(q, near.divergence(a), a);
  };
  if (!replaced) return {revealed, 0, near.largest_order};
  const Single far = by_replacing(q, *replaced, relation);
  return {[revealed, far](double a) {
            return a > far.largest_order ? revealed(a) : std::min(revealed(a), far.divergence(a));
          },
          0, near.largest_order};
}

// Runs fail independently of the data. Unless one does, which happens with a probability of at most
// the mean number of runs times theirs, fewer runs are likelier, but their law is of the same kind
// with a smaller mean, and the divergence grows with the mean.
Single selection(const PrivateSelectionEvent& e, Relation relation) {
  const Single base = inner_curve(*e.event, relation);
  const double failure = base.delta > 0 ? multiply_up(base.delta, e.mean) : 0;
  if (e.distribution == SelectionDistribution::truncated_negative_binomial) {
    return {renyi_selection_negative_binomial(base.divergence, e.shape, e.mean, base.largest_order),
            failure, base.largest_order};
  }
  const auto mu = gdp_parameter(*e.event, relation);
  const auto delta_of = [base, mu](double epsilon) {
    if (mu) return gaussian_delta_upper(*mu, epsilon);
    return best_delta(base.divergence, epsilon, base.largest_order).value;
  };
  return {renyi_selection_poisson(base.divergence, delta_of, e.mean), failure, base.largest_order};
}

Single parallel(const ParallelEvent& e, Relation relation) {
  Single out;
  std::vector<Single> stays, moves;
  const auto take = [&](std::vector<Single>& list, const Event& part, Relation r) {
    list.push_back(from_curve(part, r));
    out.largest_order = std::min(out.largest_order, list.back().largest_order);
  };
  for (const Event& part : e.events) {
    take(stays, part, relation);
    if (relation == Relation::replace_one) take(moves, part, Relation::add_remove);
  }
  const auto all = [](const std::vector<Single>& list, const auto& value) {
    std::vector<double> values;
    for (const Single& s : list) values.push_back(value(s));
    return values;
  };
  const auto failure = [](const Single& s) { return s.delta; };
  out.delta = parallel_cost(all(stays, failure), all(moves, failure));
  out.divergence = [=](double order) {
    const auto at = [order](const Single& s) { return s.divergence(order); };
    return parallel_cost(all(stays, at), all(moves, at));
  };
  return out;
}

Single single(const Event& event, Relation relation) {
  return std::visit(
      overloaded{
          [&](const GaussianEvent& e) {
            return linear(concentrated(e.noise_multiplier(relation)));
          },
          [&](const LaplaceEvent& e) {
            const double t = widen_up(1 / e.noise_multiplier(relation), 2 * kUlp);
            return Single{[t](double a) { return renyi_laplace(t, a); }};
          },
          [&](const DiscreteGaussianEvent& e) {
            return linear(concentrated(e.sigma / e.sensitivity));
          },
          [&](const DiscreteLaplaceEvent& e) {
            const double unit = e.granularity / e.scale;
            const auto steps = lattice_steps(e);
            return Single{
                [unit, steps](double a) { return renyi_discrete_laplace(unit, steps, a); }};
          },
          [&](const GaussianMixtureEvent& e) {
            if (relation == Relation::replace_one)
              refuse_relation("gaussian_mixture", relation, "add_remove or zero_out");
            auto shifts = scaled_shifts(e);
            auto weights = e.probabilities;
            double total = 0;
            for (double w : weights) total += w;
            for (double& w : weights) w /= total;
            return Single{
                [shifts, weights](double a) { return renyi_gaussian_mixture(shifts, weights, a); },
                0, 1e4};
          },
          [&](const RandomizedResponseEvent& e) {
            return Single{
                [e](double a) { return renyi_randomized_response(e.epsilon, e.categories, a); }};
          },
          [&](const ExponentialEvent& e) {
            return Single{[e](double a) { return renyi_bounded_range(e.epsilon, a); }};
          },
          [&](const PureEvent& e) { return approximate(e.epsilon, 0); },
          [&](const ApproximateEvent& e) { return approximate(e.epsilon, e.delta); },
          [&](const ZcdpEvent& e) { return linear(e.rho); },
          [&](const TcdpEvent& e) {
            return Single{
                [e](double a) { return a < e.omega ? widen_up(e.rho * a, 2 * kUlp) : kInfinity; },
                0, std::min(kLargestOrder, next_down(e.omega))};
          },
          [&](const GdpEvent& e) { return linear(widen_up(e.mu * e.mu / 2, 2 * kUlp)); },
          // One record moves one vote from one label to another: ℓ2-distance √2, ℓ1-distance 2.
          [&](const GnmaxEvent& e) { return linear(widen_up(1 / (e.sigma * e.sigma), 4 * kUlp)); },
          [&](const LnmaxEvent& e) { return approximate(widen_up(2 / e.scale, kUlp), 0); },
          [&](const SampledEvent& e) -> Single {
            switch (e.scheme) {
              case Scheme::poisson: return poisson(e, relation);
              case Scheme::without_replacement: return without_replacement(e, relation);
              case Scheme::with_replacement: break;
            }
            refuse("rdp",
                   "sampled with replacement (a record may be drawn many times, so no moment is "
                   "bounded usefully)",
                   "pld, basic, advanced, optimal");
          },
          [&](const ShuffledEvent&) -> Single {
            refuse("rdp", "shuffled", "basic, advanced, optimal");
          },
          [&](const RepeatEvent&) { return from_curve(event, relation); },
          [&](const ComposeEvent&) { return from_curve(event, relation); },
          [&](const ParallelEvent& e) { return parallel(e, relation); },
          [&](const PrivateSelectionEvent& e) { return selection(e, relation); },
      },
      event.kind());
}

std::string at_order(const OrderChoice& c, std::string_view conversion) {
  return fmt::format("{} from Rényi order {:.6g}{}", conversion, c.order,
                     c.at_limit ? " (the largest order tried)" : "");
}

void require_bounded(double value, const char* what) {
  if (!std::isfinite(value)) {
    throw AccountingError(
        fmt::format("no Rényi order gives a finite {}", what),
        "the noise is so small that nothing is bounded; use more noise or fewer repetitions");
  }
}

template <class Best>
Bound epsilon_by(const Spec& spec, Delta delta, std::string_view conversion, Best best) {
  const RenyiCurve curve(spec.event(), spec.relation);
  const double room = next_down(delta.value() - curve.delta());
  if (!(room > 0)) refuse_failure_probability("rdp", curve.delta(), delta.value());
  const OrderChoice c = best(curve, Delta(curve.delta() == 0 ? delta.value() : room));
  require_bounded(c.value, "epsilon");
  return {c.value, 0, Accountant::rdp, at_order(c, conversion)};
}

}  // namespace

RenyiCurve::RenyiCurve(const Event& event, Relation relation) {
  for (const Run& run : run_lengths(event)) {
    Single s = single(run.event, relation);
    const auto count = static_cast<double>(run.count);
    costly_ = costly_ || costly_order(run.event);
    delta_ = add_up(delta_, run.count == 1 ? s.delta : multiply_up(s.delta, count));
    largest_order_ = std::min(largest_order_, s.largest_order);
    terms_.push_back({std::move(s.divergence), count});
  }
}

double RenyiCurve::operator()(double order) const {
  double sum = 0;
  for (const Term& t : terms_) {
    const double d = t.divergence(order);
    sum = add_up(sum, t.count == 1 ? d : multiply_up(d, t.count));
  }
  return sum;
}

Bound rdp_epsilon(const Spec& spec, Delta delta) {
  return epsilon_by(spec, delta, "tight conversion", [](const RenyiCurve& curve, Delta d) {
    return best_epsilon([&](double a) { return curve(a); }, d, curve.largest_order());
  });
}

Bound rdp_epsilon_mironov(const Spec& spec, Delta delta) {
  return epsilon_by(spec, delta, "Mironov's conversion", [](const RenyiCurve& curve, Delta d) {
    return best_epsilon_mironov([&](double a) { return curve(a); }, d, curve.largest_order());
  });
}

Bound rdp_delta(const Spec& spec, double epsilon) {
  const RenyiCurve curve(spec.event(), spec.relation);
  const OrderChoice c =
      best_delta([&](double a) { return curve(a); }, epsilon, curve.largest_order());
  return {std::min(1.0, add_up(c.value, curve.delta())), 0, Accountant::rdp,
          at_order(c, "tight conversion")};
}

}  // namespace sotto
