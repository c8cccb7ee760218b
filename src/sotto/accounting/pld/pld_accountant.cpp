#include "sotto/accounting/pld/pld_accountant.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/accounting/outward.hpp"
#include "sotto/accounting/pld/catalogue.hpp"
#include "sotto/accounting/run_length.hpp"

namespace sotto {
namespace {

constexpr std::size_t kMostAlternatives = 64;

void check_tolerance(double tolerance) {
  if (!(tolerance > 0 && tolerance < 1)) {
    throw InvalidArgument(fmt::format("tolerance is {}; it must be above 0 and below 1", tolerance),
                          "1e-3 is a good value");
  }
}

LawRun run_of(const Run& run, Relation relation);

std::vector<LawRun> laws_of(const std::vector<Run>& runs, Relation relation) {
  std::vector<LawRun> laws;
  for (const Run& run : runs) laws.push_back(run_of(run, relation));
  return laws;
}

std::vector<Event> distinct_branches(const ParallelEvent& parallel) {
  std::vector<Event> out;
  for (const Event& e : parallel.events)
    if (std::find(out.begin(), out.end(), e) == out.end()) out.push_back(e);
  return out;
}

// One use of parallel events whose branch may differ from use to use: the law of the largest δ of all branches at every ε.
LawRun parallel_run(const ParallelEvent& parallel, Relation relation) {
  const std::vector<Event> branches = distinct_branches(parallel);
  LawRun out;
  out.upper.atoms = {{0, 1, 1}};
  out.upper.symmetric = true;
  if (branches.empty()) return out;
  std::vector<PrivacyProfile> profiles;
  std::vector<std::vector<LawRun>> laws;
  for (const Event& b : branches) {
    laws.push_back(laws_of(run_lengths(b), relation));
    profiles.emplace_back(laws.back());
  }
  if (branches.size() == 1 && laws.front().size() == 1 && laws.front().front().count == 1)
    return laws.front().front();
  constexpr double kEnd = 1e-25, kTolerance = 1e-2;
  double end = 1e-3;
  const auto worst = [&](double epsilon) {
    double d = 0;
    for (const PrivacyProfile& p : profiles) d = std::max(d, p.delta(epsilon, kTolerance).upper);
    return d;
  };
  for (const PrivacyProfile& p : profiles) end = std::max(end, p.epsilon(kEnd, kTolerance).upper);
  constexpr int kKnots = 200;
  std::vector<double> epsilons, deltas;
  for (int i = -kKnots; i <= kKnots; ++i) {
    const double x = end * i / kKnots, d = worst(std::abs(x));
    epsilons.push_back(x);
    deltas.push_back(i >= 0 ? d : -std::expm1(x) + std::exp(x) * d);
  }
  out.upper = law_from_curve(std::move(epsilons), std::move(deltas));
  out.upper.symmetric = true;
  out.attained = false;
  for (const auto& l : laws)
    if (l.size() == 1 && l.front().count == 1 && l.front().attained && !out.lower)
      out.lower = l.front().upper;
  return out;
}

LawRun run_of(const Run& run, Relation relation) {
  const auto* parallel = run.event.get_if<ParallelEvent>();
  LawRun law = parallel ? parallel_run(*parallel, relation) : law_of(run.event, relation);
  law.count = run.count;
  return law;
}

// Takes parallel events that are used once apart: a record is in one branch, so the worst branch decides.
std::vector<std::vector<Run>> alternatives(const Event& event) {
  std::vector<std::vector<Run>> out{{}};
  for (const Run& run : run_lengths(event)) {
    const auto* parallel = run.event.get_if<ParallelEvent>();
    const std::vector<Event> branches =
        parallel ? distinct_branches(*parallel) : std::vector<Event>{};
    const bool split = parallel && run.count == 1 && !branches.empty() &&
                       out.size() * branches.size() <= kMostAlternatives;
    if (!split) {
      for (auto& list : out) list.push_back(run);
      continue;
    }
    std::vector<std::vector<Run>> next;
    for (const auto& list : out) {
      for (const Event& branch : branches) {
        for (std::vector<Run> more : alternatives(branch)) {
          more.insert(more.begin(), list.begin(), list.end());
          next.push_back(std::move(more));
        }
      }
    }
    out = std::move(next);
  }
  return out;
}

template <class Ask>
Bound worst_of(const Spec& spec, const Ask& ask) {
  Bound bound{0, 0, Accountant::pld, "privacy loss distribution, connect-the-dots"};
  for (const PrivacyProfile& profile : profiles_of(spec)) {
    const CertifiedInterval i = ask(profile);
    bound.upper = std::max(bound.upper, i.upper);
    bound.lower = std::max(bound.lower, i.lower);
  }
  return bound;
}

}  // namespace

std::vector<PrivacyProfile> profiles_of(const Spec& spec) {
  std::vector<PrivacyProfile> out;
  for (const std::vector<Run>& runs : alternatives(spec.event()))
    out.emplace_back(laws_of(runs, spec.relation));
  return out;
}

Bound pld_epsilon(const Spec& spec, Delta delta, double tolerance, Wanted wanted) {
  check_tolerance(tolerance);
  return worst_of(spec, [&](const PrivacyProfile& p) {
    return p.epsilon(delta.value(), tolerance, Direction::both, wanted);
  });
}

Bound pld_delta(const Spec& spec, double epsilon, double tolerance) {
  check_tolerance(tolerance);
  if (!(epsilon >= 0 && std::isfinite(epsilon))) {
    throw InvalidArgument(fmt::format("epsilon is {}; it must be 0 or more and finite", epsilon));
  }
  return worst_of(spec, [&](const PrivacyProfile& p) { return p.delta(epsilon, tolerance); });
}

}  // namespace sotto
