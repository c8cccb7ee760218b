#include "sotto/accounting/composition/detail/composition_account.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "sotto/accounting/composition/advanced.hpp"
#include "sotto/accounting/composition/detail/event_epsilon.hpp"
#include "sotto/accounting/composition/detail/shuffle_account.hpp"
#include "sotto/accounting/composition/detail/simple_mechanism.hpp"
#include "sotto/accounting/composition/optimal.hpp"
#include "sotto/accounting/composition/run_length.hpp"
#include "sotto/accounting/detail/refusal.hpp"
#include "sotto/core/numeric/gaussian_dp.hpp"
#include "sotto/core/numeric/outward.hpp"
#include "sotto/core/numeric/search.hpp"

namespace sotto {
namespace {

// Is the pair of the event attained by a mechanism the event allows?
bool worst_case(const Event& event) {
  if (const auto* r = event.get_if<RandomizedResponseEvent>()) return r->categories == 2;
  return event.get_if<PureEvent>() || event.get_if<ApproximateEvent>();
}

// Two searches over the same splits ask for the same δ.
EpsilonCurve remembered(EpsilonCurve curve) {
  const auto known = std::make_shared<std::map<double, double>>();
  return [curve = std::move(curve), known](double delta) {
    const auto found = known->find(delta);
    return found != known->end() ? found->second : (*known)[delta] = curve(delta);
  };
}

}  // namespace

// Runs as (ε, δ) parts, once the δ of each mechanism that needs one is chosen.
class CompositionAccount::Parts {
 public:
  explicit Parts(const Spec& spec) {
    const Relation relation = spec.relation;
    for (const Run& run : run_lengths(spec.event())) {
      const auto pair = pure_parameters(run.event, relation);
      if (pair) {
        fixed_.push_back({pair->epsilon, pair->delta, run.count});
      } else {
        open_.push_back({remembered(epsilon_curve(run.event, relation)), run.count});
        mechanisms_ += static_cast<double>(run.count);
      }
      exact_ = exact_ && worst_case(run.event);
    }
    own_delta_ = basic_composition(fixed_).delta;
  }
  bool all_fixed() const { return open_.empty(); }
  bool exact() const { return exact_; }
  // One mechanism that runs once: nothing is composed.
  bool alone() const { return fixed_.empty() && mechanisms_ == 1; }
  double own_delta() const { return own_delta_; }

  // total: the δ that all open mechanisms together may use.
  std::vector<ApproximateDp> at(double total) const {
    std::vector<ApproximateDp> out = fixed_;
    const double each = widen_down(total / std::max(1.0, mechanisms_), 2 * kUlp);
    for (const Open& run : open_) out.push_back({run.curve(each), each, run.count});
    return out;
  }

 private:
  struct Open {
    EpsilonCurve curve;
    std::uint64_t count;
  };
  std::vector<Open> open_;
  std::vector<ApproximateDp> fixed_;
  double own_delta_ = 0, mechanisms_ = 0;
  bool exact_ = true;
};

namespace {

bool finite(const std::vector<ApproximateDp>& parts) {
  return std::ranges::all_of(parts,
                             [](const ApproximateDp& p) { return std::isfinite(p.epsilon); });
}

// The smallest f(parts, slack) over splits of `room` into what open mechanisms use and a slack.
template <class Parts, class F>
double best_split(const Parts& parts, double room, F f) {
  if (parts.all_fixed()) return f(parts.at(0), room);
  const auto value = [&](double x) {  // the share is a logistic function of x
    const double share = 1 / (1 + std::exp(-x));
    const auto list = parts.at(room * share);
    const double slack = widen_down(room * (1 - share), 4 * kUlp);
    return finite(list) && slack > 0 ? f(list, slack) : kInfinity;
  };
  return minimise(value, -6, 6, 6, 0.5).value;
}

template <class Parts>
double room_for(const Parts& parts, Delta delta, std::string_view accountant) {
  if (parts.own_delta() == 0) return delta.value();
  // A difference of zero is exact: the mechanisms may use all of δ themselves.
  const double difference = delta.value() - parts.own_delta();
  const double room = difference == 0 ? 0 : next_down(difference);
  if (!(room >= 0)) refuse_failure_probability(accountant, parts.own_delta(), delta.value());
  return room;
}

double finite_or_refuse(double epsilon, std::string_view accountant) {
  if (!std::isfinite(epsilon)) refuse_unbounded(accountant);
  return epsilon;
}

constexpr const char* kShuffledWords = "amplification by shuffling";
constexpr const char* kAlone = "the guarantee of the only mechanism";

// Whoever forgets all other outputs still has one.
double shuffled_alone(const Spec& spec, Delta delta) {
  double best = 0;
  for (const Run& run : run_lengths(spec.event()))
    if (const auto* e = run.event.get_if<ShuffledEvent>())
      best = std::max(best, ShuffledGuarantee(*e, spec.relation, false).epsilon_lower(delta));
  return best;
}

}  // namespace

CompositionAccount::CompositionAccount(const Spec& spec) : spec_(spec) {}

const CompositionAccount::Parts& CompositionAccount::parts() const {
  if (!parts_) parts_ = std::make_shared<const Parts>(spec_);
  return *parts_;
}

Bound CompositionAccount::basic_epsilon(Delta delta) const {
  if (const auto event = lone_shuffled(spec_)) {
    const ShuffledGuarantee known(*event, spec_.relation, true);
    return {known.epsilon_upper(delta.value()), known.epsilon_lower(delta), Accountant::basic,
            kShuffledWords};
  }
  const Parts& parts = this->parts();
  const double room = room_for(parts, delta, "basic");
  const double epsilon = basic_composition(parts.at(room)).epsilon;
  return {finite_or_refuse(epsilon, "basic"), shuffled_alone(spec_, delta), Accountant::basic,
          "sums of epsilon and delta"};
}

std::optional<Bound> shuffled_delta(const Spec& spec, double epsilon) {
  const auto event = lone_shuffled(spec);
  if (!event) return std::nullopt;
  const ShuffledGuarantee known(*event, spec.relation, true);
  return Bound{known.delta_upper(epsilon), known.delta_lower(epsilon), Accountant::basic,
               kShuffledWords};
}

Bound CompositionAccount::advanced_epsilon(Delta delta) const {
  const Parts& parts = this->parts();
  const double room = room_for(parts, delta, "advanced");
  if (!(room > 0)) refuse_failure_probability("advanced", parts.own_delta(), delta.value());
  if (parts.alone())
    return {finite_or_refuse(parts.at(room)[0].epsilon, "advanced"), 0, Accountant::advanced,
            kAlone};
  bool improved = true;
  double best = best_split(parts, room, [&](const std::vector<ApproximateDp>& list, double slack) {
    return advanced_epsilon_kov(list, Delta(slack));
  });
  const double classical =
      best_split(parts, room, [&](const std::vector<ApproximateDp>& list, double slack) {
        return advanced_epsilon_drv(list, Delta(slack));
      });
  if (classical < best) best = classical, improved = false;
  return {finite_or_refuse(best, "advanced"), 0, Accountant::advanced,
          improved ? "advanced composition of Kairouz, Oh and Viswanath"
                   : "advanced composition of Dwork, Rothblum and Vadhan"};
}

Bound CompositionAccount::optimal_epsilon(Delta delta) const {
  const Parts& parts = this->parts();
  const std::string conversion =
      parts.all_fixed()
          ? "optimal composition of (epsilon, delta) guarantees"
          : "optimal composition of (epsilon, delta) guarantees at a chosen split of delta";
  if (parts.all_fixed()) {
    const auto list = parts.at(0);
    const Enclosure e = sotto::optimal_epsilon(list, delta);
    if (!std::isfinite(e.upper))
      refuse_failure_probability("optimal", total_delta(list), delta.value());
    return {e.upper, parts.exact() ? e.lower : 0, Accountant::optimal, conversion};
  }
  const double room = room_for(parts, delta, "optimal");
  const auto split = [&] {
    return best_split(parts, room, [&](const std::vector<ApproximateDp>& list, double) {
      return sotto::optimal_epsilon(list, delta, 1e-3).upper;
    });
  };
  if (parts.alone()) {
    // At δ, or pure and then as the worst of all pure mechanisms. Where ε is hardly more than δ,
    // what a part of δ leaves open may be covered by the rest of it.
    const auto pure = parts.at(0);
    double best =
        std::min(parts.at(room)[0].epsilon, std::isfinite(pure[0].epsilon)
                                                ? sotto::optimal_epsilon(pure, delta, 1e-3).upper
                                                : kInfinity);
    if (best < 100 * delta.value()) best = std::min(best, split());
    return {finite_or_refuse(best, "optimal"), 0, Accountant::optimal, kAlone};
  }
  const double best = split();
  return {finite_or_refuse(best, "optimal"), 0, Accountant::optimal, conversion};
}

std::optional<Bound> CompositionAccount::optimal_delta(double epsilon) const {
  const Parts& parts = this->parts();
  if (!parts.all_fixed()) return std::nullopt;
  const Enclosure d = sotto::optimal_delta(parts.at(0), epsilon, kOptimalPrecision);
  return Bound{d.upper, parts.exact() ? d.lower : 0, Accountant::optimal,
               "optimal composition of (epsilon, delta) guarantees"};
}

namespace {

struct GdpCost {
  double mu_squared = 0;
  bool exact = true;
};

GdpCost gdp_cost(const Event& event, Relation relation) {
  GdpCost total;
  for (const Run& run : run_lengths(event)) {
    double square = 0;
    if (const auto mu = gdp_parameter(run.event, relation)) {
      square = multiply_up(*mu, *mu);
    } else if (const auto pair = pure_parameters(run.event, relation); pair && pair->delta == 0) {
      const double mu_pure = pure_to_mu(pair->epsilon);
      square = multiply_up(mu_pure, mu_pure);
      total.exact = false;
    } else if (const auto* p = run.event.get_if<ParallelEvent>()) {
      square = parallel_cost(
          *p, relation, [](const Event& part, Relation r) { return gdp_cost(part, r).mu_squared; });
      total.exact = false;
    } else {
      refuse("gdp", run.event.name(), "rdp, pld, basic, advanced, optimal");
    }
    total.mu_squared =
        add_up(total.mu_squared,
               run.count == 1 ? square : multiply_up(square, static_cast<double>(run.count)));
  }
  return total;
}

std::string gdp_words(double mu, bool exact) {
  return fmt::format("{} conversion from {:.6g}-GDP",
                     exact ? "exact" : "exact (after a lossy step from pure events)", mu);
}

// μ when exact, a little lower than the one above.
double mu_below(double mu) { return widen_down(mu, 1e-14); }

}  // namespace

Bound gdp_epsilon(const Spec& spec, Delta delta) {
  const GdpCost cost = gdp_cost(spec.event(), spec.relation);
  const double mu = cost.mu_squared == 0 ? 0 : next_up(std::sqrt(cost.mu_squared));
  if (!std::isfinite(mu) || mu > 1e150) refuse_unbounded("gdp");
  return {gaussian_epsilon_upper(mu, delta),
          cost.exact && mu > 0 ? gaussian_epsilon_lower(mu_below(mu), delta) : 0, Accountant::gdp,
          gdp_words(mu, cost.exact)};
}

Bound gdp_delta(const Spec& spec, double epsilon) {
  const GdpCost cost = gdp_cost(spec.event(), spec.relation);
  const double mu = cost.mu_squared == 0 ? 0 : next_up(std::sqrt(cost.mu_squared));
  if (!std::isfinite(mu) || mu > 1e150) refuse_unbounded("gdp");
  return {gaussian_delta_upper(mu, epsilon),
          cost.exact && mu > 0 ? gaussian_delta_lower(mu_below(mu), epsilon) : 0, Accountant::gdp,
          gdp_words(mu, cost.exact)};
}

bool gdp_is_exact(const Spec& spec) {
  return gdp_parameter(spec.event(), spec.relation).has_value();
}

bool optimal_is_exact(const Spec& spec) {
  const auto runs = run_lengths(spec.event());
  if (runs.empty() || !std::ranges::all_of(runs, [](const Run& r) { return worst_case(r.event); }))
    return false;
  const auto first = pure_parameters(runs[0].event, spec.relation);
  return std::ranges::all_of(runs, [&](const Run& r) {
    return pure_parameters(r.event, spec.relation)->epsilon == first->epsilon;
  });
}

}  // namespace sotto
