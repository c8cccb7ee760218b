#include "sotto/accounting/pld/pld_accountant.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "sotto/accounting/composition/run_length.hpp"
#include "sotto/accounting/pld/catalogue.hpp"
#include "sotto/core/numeric/outward.hpp"

namespace sotto {
namespace {

constexpr std::size_t kMostAlternatives = 64;
constexpr std::size_t kMostMoving = 6;  // different parts between which a record may move

void check_tolerance(double tolerance) {
  if (!(tolerance > 0 && tolerance < 1)) {
    throw InvalidArgument(fmt::format("tolerance is {}; it must be above 0 and below 1", tolerance),
                          "1e-3 is a good value");
  }
}

// One mechanism as it looks to the two data sets: under replace_one a record may leave one part and
// enter another, which adds or removes a record there.
struct Use {
  Run run;
  Relation relation;
  bool moved = false;
};
using Uses = std::vector<Use>;

std::vector<Event> distinct_branches(const ParallelEvent& parallel) {
  std::vector<Event> out;
  for (const Event& e : parallel.events)
    if (std::find(out.begin(), out.end(), e) == out.end()) out.push_back(e);
  return out;
}

std::vector<Uses> alternatives(const Event& event, Relation relation, bool moved);

// Every way in which a record can touch the parts, one of which is the truth.
std::vector<Uses> ways_to_touch(const ParallelEvent& parallel, Relation relation, bool moved) {
  const std::vector<Event> branches = distinct_branches(parallel);
  std::vector<Uses> out;
  const auto take = [&](std::vector<Uses> more) {
    out.insert(out.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
  };
  for (const Event& b : branches) take(alternatives(b, relation, moved));
  if (relation != Relation::replace_one) return out;
  if (parallel.events.size() == 1) take(alternatives(branches[0], Relation::add_remove, true));
  if (branches.size() > kMostMoving) {
    throw Unsupported(
        fmt::format("the pld accountant cannot express parallel under replace_one with more than "
                    "{} different parts",
                    kMostMoving),
        "these accountants can: rdp, zcdp, gdp, basic, advanced, optimal");
  }
  for (std::size_t i = 0; i < branches.size(); ++i) {
    for (std::size_t j = i; j < branches.size(); ++j) {
      if (i == j && std::ranges::count(parallel.events, branches[i]) < 2) continue;
      for (const Uses& left : alternatives(branches[i], Relation::add_remove, true)) {
        for (Uses both : alternatives(branches[j], Relation::add_remove, true)) {
          both.insert(both.end(), left.begin(), left.end());
          out.push_back(std::move(both));
        }
      }
    }
  }
  return out;
}

// Takes parallel events that are used once apart: the worst way to touch their parts decides.
std::vector<Uses> alternatives(const Event& event, Relation relation, bool moved) {
  std::vector<Uses> out{{}};
  for (const Run& run : run_lengths(event)) {
    const auto* parallel = run.event.get_if<ParallelEvent>();
    std::vector<Uses> ways;
    if (parallel && run.count == 1) ways = ways_to_touch(*parallel, relation, moved);
    if (ways.empty() || out.size() * ways.size() > kMostAlternatives)
      ways = {{Use{run, relation, moved}}};
    std::vector<Uses> next;
    for (const Uses& list : out) {
      for (Uses more : ways) {
        more.insert(more.begin(), list.begin(), list.end());
        next.push_back(std::move(more));
      }
    }
    out = std::move(next);
  }
  return out;
}

LawRun run_of(const Use& use, SampleView view);

std::vector<LawRun> laws_of(const Uses& uses, SampleView view) {
  std::vector<LawRun> laws;
  for (const Use& use : uses) laws.push_back(run_of(use, view));
  return laws;
}

// The largest δ of several profiles at an ε. δ falls with ε, so whatever a profile said at a
// smaller ε holds at a larger one: who cannot be the worst any more is not asked again.
class WorstDelta {
 public:
  WorstDelta(const std::vector<PrivacyProfile>& profiles, double tolerance)
      : profiles_(profiles), tolerance_(tolerance), known_(profiles.size()) {}

  double operator()(double epsilon) {
    // The one that said most at a smaller ε is the likeliest to be the worst here, too.
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t i = 0; i < profiles_.size(); ++i) order.emplace_back(before(i, epsilon), i);
    std::ranges::stable_sort(order, std::greater{}, [](const auto& o) { return o.first; });
    double worst = 0;
    for (const auto& [at_most, i] : order) {
      if (at_most <= worst) break;
      const double d =
          profiles_[i].delta(epsilon, tolerance_, Direction::both, Wanted::upper).upper;
      known_[i][epsilon] = std::min(d, at_most);
      worst = std::max(worst, known_[i][epsilon]);
    }
    return worst;
  }

 private:
  double before(std::size_t i, double epsilon) const {
    const auto next = known_[i].upper_bound(epsilon);
    return next == known_[i].begin() ? 1 : std::prev(next)->second;
  }

  const std::vector<PrivacyProfile>& profiles_;
  double tolerance_;
  std::vector<std::map<double, double>> known_;  // of each profile: δ by ε
};

// One use of parallel events whose branch may differ from use to use: the law of the largest δ of
// all ways at every ε.
LawRun parallel_run(const ParallelEvent& parallel, Relation relation, bool moved, SampleView view) {
  std::vector<PrivacyProfile> profiles;
  std::vector<std::vector<LawRun>> laws;
  for (const Uses& uses : ways_to_touch(parallel, relation, moved)) {
    laws.push_back(laws_of(uses, view));
    profiles.emplace_back(laws.back());
  }
  const auto one_law = [](const std::vector<LawRun>& l) {
    return l.size() == 1 && l.front().count == 1;
  };
  if (laws.size() == 1 && one_law(laws.front())) return laws.front().front();
  constexpr double kEnd = 1e-25, kTolerance = 1e-2;
  double end = 1e-3;
  for (const PrivacyProfile& p : profiles)
    end = std::max(end, p.epsilon(kEnd, kTolerance, Direction::both, Wanted::upper).upper);
  WorstDelta worst(profiles, kTolerance);
  // A point of the curve is a closed form for one mechanism and a transform for several.
  const bool closed = std::ranges::all_of(laws, one_law);
  LawRun out;
  out.upper = closed ? law_from_curve(end, 200, std::ref(worst))
                     : law_from_curve(falling_curve(end, 64, std::ref(worst)));
  out.attained = false;
  for (const auto& l : laws)
    if (one_law(l) && l.front().attained && !out.lower) out.lower = l.front().upper;
  return out;
}

LawRun run_of(const Use& use, SampleView view) {
  const auto* parallel = use.run.event.get_if<ParallelEvent>();
  LawRun law = parallel ? parallel_run(*parallel, use.relation, use.moved, view)
                        : law_of(use.run.event, use.relation, view);
  // The record leaves one part and enters another: one law for both directions.
  if (use.moved && !law.upper.symmetric) {
    law.upper = folded(std::move(law.upper));
    law.attained = false;
    law.lower.reset();
  }
  law.count = use.run.count;
  return law;
}

bool has_two_views(const Event& event, Relation relation) {
  for (const Run& run : run_lengths(event)) {
    const auto* parallel = run.event.get_if<ParallelEvent>();
    if (parallel ? std::ranges::any_of(parallel->events,
                                       [&](const Event& e) { return has_two_views(e, relation); })
                 : two_views_of_sample(run.event, relation))
      return true;
  }
  return false;
}

// ask(profile, tolerance, wanted). Of several profiles the one that looks worst at a glance is
// asked first; those that are certainly better are not asked again.
template <class Ask>
Bound worst_of(const std::vector<PrivacyProfile>& profiles, double tolerance, Wanted wanted,
               const Ask& ask) {
  constexpr double kGlance = 1e-2;
  std::vector<std::pair<double, const PrivacyProfile*>> order;
  for (const PrivacyProfile& p : profiles) {
    double at_most = kInfinity;
    if (profiles.size() > 1) {
      try {
        at_most = ask(p, kGlance, Wanted::upper).upper;
      } catch (const AccountingError&) {
        // Asked in full, it will say why.
      }
    }
    order.push_back({at_most, &p});
  }
  std::ranges::stable_sort(order, std::greater{}, [](const auto& o) { return o.first; });
  Bound bound{0, 0, Accountant::pld, "privacy loss distribution, connect-the-dots"};
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i > 0 && order[i].first <= bound.upper) break;
    const CertifiedInterval interval = ask(*order[i].second, tolerance, wanted);
    bound.upper = std::max(bound.upper, interval.upper);
    bound.lower = std::max(bound.lower, interval.lower);
  }
  return bound;
}

// Each view gives a bound of its own.
template <class Ask>
Bound best_view(const std::vector<std::vector<PrivacyProfile>>& views, double tolerance,
                Wanted wanted, const Ask& ask) {
  check_tolerance(tolerance);
  Bound bound = worst_of(views.front(), tolerance, wanted, ask);
  for (std::size_t i = 1; i < views.size(); ++i) {
    const Bound other = worst_of(views[i], tolerance, wanted, ask);
    bound.upper = std::min(bound.upper, other.upper);
    bound.lower = std::max(bound.lower, other.lower);
  }
  return bound;
}

}  // namespace

std::vector<PrivacyProfile> profiles_of(const Spec& spec, SampleView view) {
  std::vector<PrivacyProfile> out;
  for (const Uses& uses : alternatives(spec.event(), spec.relation, false))
    out.emplace_back(laws_of(uses, view));
  return out;
}

PldAccount::PldAccount(const Spec& spec) {
  views_.push_back(profiles_of(spec, SampleView::amplified));
  if (has_two_views(spec.event(), spec.relation))
    views_.push_back(profiles_of(spec, SampleView::revealed));
}

Bound PldAccount::epsilon(Delta delta, double tolerance, Wanted wanted) const {
  return best_view(views_, tolerance, wanted, [&](const PrivacyProfile& p, double t, Wanted w) {
    return p.epsilon(delta.value(), t, Direction::both, w);
  });
}

Bound PldAccount::delta(double epsilon, double tolerance) const {
  if (!(epsilon >= 0 && std::isfinite(epsilon))) {
    throw InvalidArgument(fmt::format("epsilon is {}; it must be 0 or more and finite", epsilon));
  }
  return best_view(views_, tolerance, Wanted::both,
                   [&](const PrivacyProfile& p, double t, Wanted w) {
                     return p.delta(epsilon, t, Direction::both, w);
                   });
}

Bound pld_epsilon(const Spec& spec, Delta delta, double tolerance, Wanted wanted) {
  check_tolerance(tolerance);
  return PldAccount(spec).epsilon(delta, tolerance, wanted);
}

Bound pld_delta(const Spec& spec, double epsilon, double tolerance) {
  check_tolerance(tolerance);
  return PldAccount(spec).delta(epsilon, tolerance);
}

}  // namespace sotto
