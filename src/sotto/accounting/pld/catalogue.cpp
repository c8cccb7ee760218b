#include "sotto/accounting/pld/catalogue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "sotto/accounting/composition/detail/apart.hpp"
#include "sotto/accounting/composition/run_length.hpp"
#include "sotto/accounting/numeric/detail/log_math.hpp"
#include "sotto/accounting/pld/noise_laws.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/numeric/outward.hpp"

namespace sotto {
namespace {

[[noreturn]] void refuse_event(std::string_view event, const std::string& why) {
  throw Unsupported(fmt::format("the pld accountant cannot express {}: {}", event, why),
                    "another accountant (rdp, basic, advanced) may be able to");
}

LawRun attained(LossLaw law) {
  LawRun run;
  run.upper = std::move(law);
  return run;
}

// The law of an unsampled event for neighbours under the relation.
struct UnsampledLaw {
  Relation relation;

  LawRun operator()(const GaussianEvent& e) const {
    return attained(gaussian_law(1 / e.noise_multiplier(relation)));
  }
  LawRun operator()(const LaplaceEvent& e) const {
    return attained(laplace_law(1 / e.noise_multiplier(relation)));
  }
  LawRun operator()(const DiscreteGaussianEvent& e) const {
    return discrete_gaussian_run(e.sigma / e.granularity, e.sensitivity / e.granularity,
                                 e.dimension);
  }
  // In several dimensions one coordinate taking the whole ℓ1 distance is the worst case.
  LawRun operator()(const DiscreteLaplaceEvent& e) const {
    return discrete_laplace_run(e.scale / e.granularity, e.sensitivity / e.granularity);
  }
  LawRun operator()(const GaussianMixtureEvent& e) const {
    if (relation == Relation::replace_one)
      refuse_event("gaussian_mixture", "only add_remove and zero_out are defined for it");
    MixturePiece piece;
    double total = 0;
    for (double p : e.probabilities) total += p;
    for (std::size_t i = 0; i < e.probabilities.size(); ++i) {
      if (e.probabilities[i] == 0) continue;
      piece.p_weights.push_back(e.probabilities[i] / total);
      piece.p_means.push_back(e.sensitivities[i] / e.sigma);
    }
    piece.q_weights = {1};
    piece.q_means = {0};
    LossLaw law;
    if (*std::max_element(piece.p_means.begin(), piece.p_means.end()) == 0) {
      law.atoms = {{0, 1, 1}};
    } else {
      law.pieces = {std::move(piece)};
    }
    return attained(std::move(law));
  }
  // Any change of one input is one step for randomized response and for votes, whatever the
  // relation.
  LawRun operator()(const RandomizedResponseEvent& e) const {
    return attained(randomized_response_law(e.epsilon, e.categories));
  }
  LawRun operator()(const ExponentialEvent& e) const { return bounded_range_run(e.epsilon); }
  LawRun operator()(const PureEvent& e) const { return attained(approximate_law(e.epsilon, 0)); }
  LawRun operator()(const ApproximateEvent& e) const {
    return attained(approximate_law(e.epsilon, e.delta));
  }
  LawRun operator()(const ZcdpEvent& e) const { return concentrated_run(e.rho, kInfinity); }
  LawRun operator()(const TcdpEvent& e) const { return concentrated_run(e.rho, e.omega); }
  LawRun operator()(const GdpEvent& e) const { return attained(gaussian_law(e.mu)); }
  // One vote moves from one class to another.
  LawRun operator()(const GnmaxEvent& e) const {
    return attained(gaussian_law(std::sqrt(2.0) / e.sigma));
  }
  LawRun operator()(const LnmaxEvent& e) const { return attained(laplace_law(2 / e.scale)); }

  template <class T>
  LawRun operator()(const T& e) const {
    refuse_event(Event(e).name(), "no dominating pair is known to it");
  }
};

LawRun unsampled(const Event& event, Relation relation) {
  return std::visit(UnsampledLaw{relation}, event.kind());
}

// What runs on the sample, as one law: one mechanism, or several Gaussians, which together are one.
LawRun inner_law(const Event& event, Relation relation) {
  const std::vector<Run> runs = run_lengths(event);
  if (runs.size() == 1 && runs.front().count == 1) return unsampled(runs.front().event, relation);
  double mu2 = 0;
  for (const Run& run : runs) {
    const auto* g = run.event.get_if<GaussianEvent>();
    const auto* d = run.event.get_if<GdpEvent>();
    if (!g && !d)
      refuse_event("sampled", "it contains several mechanisms that are not all Gaussian");
    const double mu = g ? 1 / g->noise_multiplier(relation) : d->mu;
    mu2 += static_cast<double>(run.count) * mu * mu;
  }
  return attained(gaussian_law(widen_up(std::sqrt(mu2), 1e-15)));
}

// The same for inputs that are several steps apart. A guarantee for one step may be attained, its
// bound for a group is not.
LawRun inner_law(const Event& event, Relation relation, const Apart& apart) {
  const auto seen = seen_from_afar(event, relation, apart);
  if (!seen) refuse_event("sampled", "no bound is known for records that are replaced inside it");
  LawRun run = inner_law(*seen, relation);
  if (*seen != event && (seen->get_if<PureEvent>() || seen->get_if<ApproximateEvent>()))
    run.attained = false;
  return run;
}

LawRun sampled_run(const LawRun& base, double gamma) {
  LawRun out;
  out.upper = sampled_law(base.upper, gamma);
  out.attained = base.attained;
  if (base.lower) out.lower = sampled_law(*base.lower, gamma);
  return out;
}

const LossLaw* instance(const LawRun& run) {
  return run.attained ? &run.upper : run.lower ? &*run.lower : nullptr;
}

// Poisson sampling when a record is replaced by another: P = (1−q)M₀ + qM₁, Q = (1−q)M₀ + qM₂.
LawRun poisson_replace(const Event& event, double rate) {
  if (const auto* g = event.get_if<GaussianEvent>(); g && g->basis == Basis::contribution) {
    const double mu = g->sensitivity / g->sigma;
    MixturePiece piece{{1 - rate, rate}, {0, mu}, {1 - rate, rate}, {0, -mu}};
    LossLaw law;
    law.symmetric = true;
    law.pieces = {std::move(piece)};
    return attained(std::move(law));
  }
  LawRun out;
  out.attained = false;
  if (const auto* l = event.get_if<LaplaceEvent>(); l && l->basis == Basis::contribution) {
    // M₀ is one contribution away from M₁ and M₂, these are two apart: joint convexity mixes the
    // two curves.
    const double one = l->sensitivity / l->scale;
    const LossLaw near = laplace_law(one), far = laplace_law(2 * one);
    out.upper = law_from_curve(sampled_loss(2 * one, rate), 2048, [&](double e) {
      const double base = base_loss(e, rate), beta = std::exp(e - base);
      return rate * ((1 - beta) * near.hockey_stick(base) + beta * far.hockey_stick(base));
    });
    out.lower = sampled_law(near, rate);
    return out;
  }
  // Nothing is known of M₀: the bound lets everyone see whether the record was drawn.
  const LawRun base = inner_law(event, Relation::replace_one);
  out.upper = revealed_law(base.upper, rate);
  if (base.attained) out.lower = sampled_law(base.upper, rate);
  return out;
}

// Number of times a record is drawn: weights of k = 1, 2, … given at least one, and the rate of at
// least one.
struct Draws {
  double rate;
  std::vector<double> weights;
  double rest = 0;  // weight of more draws than listed
};

Draws draws_of(std::uint64_t size, std::uint64_t population) {
  const double n = static_cast<double>(population),
               log_miss = static_cast<double>(size) * std::log1p(-1 / n);
  Draws d{population == 1 ? 1 : -std::expm1(log_miss), {}, 0};
  const std::uint64_t most = std::min<std::uint64_t>(size, 64);
  for (std::uint64_t k = 1; k <= most; ++k) {
    d.weights.push_back(std::exp(log_binomial_pmf(size, k, 1 / n, 1 - 1 / n)) / d.rate);
    if (k > 2 && d.weights.back() < 1e-120) break;
  }
  // Successive ratios of binomial masses fall, so the rest is below a geometric series.
  if (d.weights.size() < size) {
    const double last = d.weights.back(), before = d.weights[d.weights.size() - 2];
    const double ratio = last > 0 ? last / before : 0;
    if (ratio >= 0.5)
      refuse_event("sampled", "with_replacement draws each record too often to be bounded");
    d.rest = last * ratio / (1 - ratio);
  }
  return d;
}

// What runs on the sample given that it holds the record: the law of inputs `span` steps apart for
// every time it was drawn, mixed.
LossLaw drawn_law(const SampledEvent& e, Relation relation, std::uint64_t span,
                  const Draws& draws) {
  std::vector<LossLaw> laws;
  for (std::size_t k = 1; k <= draws.weights.size(); ++k)
    laws.push_back(inner_law(*e.event, relation, {k, span}).upper);
  if (laws.size() == 1 && draws.rest == 0) return laws.front();
  LossLaw law = mixed_law(laws, draws.weights);
  law.charged += draws.rest;
  return law;
}

// Gaussian noise on a sum to which all other records contribute the opposite of the record: drawn k
// times it moves the sum by 2k contributions, and its null or replaced neighbour by k (zero_out) or
// not at all (replace_one, where it is the same as the others).
std::optional<LossLaw> attained_by_others(const SampledEvent& e, Relation relation,
                                          const Draws& draws) {
  const auto* g = e.event->get_if<GaussianEvent>();
  const bool once = e.scheme == Scheme::without_replacement;
  if (!g || relation == Relation::add_remove || (relation == Relation::replace_one && once))
    return std::nullopt;
  const bool replace = relation == Relation::replace_one;
  const double mu = 1 / g->noise_multiplier(relation), step = replace ? mu : 2 * mu;
  std::vector<double> weights{std::max(0.0, 1 - draws.rate)}, p_means{0}, q_means{0};
  for (std::size_t k = 1; k <= draws.weights.size(); ++k) {
    weights.push_back(draws.rate * draws.weights[k - 1]);
    p_means.push_back(static_cast<double>(k) * step);
    q_means.push_back(replace ? 0 : static_cast<double>(k) * mu);
  }
  return mixtures_in_cells(weights, p_means, q_means, draws.rate * draws.rest);
}

LawRun fixed_size_run(const SampledEvent& e, Relation relation, SampleView view) {
  const bool once = e.scheme == Scheme::without_replacement;
  const Draws draws =
      once ? Draws{std::min(1.0, static_cast<double>(e.size) / static_cast<double>(e.population)),
                   {1}}
           : draws_of(e.size, e.population);
  const double rate = std::min(1.0, draws.rate);
  LawRun out;
  out.attained = false;
  const bool bears_replacing =
      seen_from_afar(*e.event, relation, {1, steps_of_replacing(relation)}).has_value();
  if (view == SampleView::revealed || (relation == Relation::zero_out && !bears_replacing)) {
    out.upper = revealed_law(drawn_law(e, relation, 1, draws), rate);
  } else {
    // A sample without the record holds another one in its place: twice as far, unless the relation
    // is about replacing anyway.
    out.upper = sampled_law(drawn_law(e, relation, steps_of_replacing(relation), draws), rate);
    // Add/remove: the smaller data set's sample is exactly the part of the other's that misses the
    // record. Otherwise the worse of both directions is needed at every step.
    if (relation != Relation::add_remove && !out.upper.symmetric)
      out.upper = folded(std::move(out.upper));
  }
  if (auto law = attained_by_others(e, relation, draws)) {
    out.lower = std::move(law);
    return out;
  }
  if (!once) return out;
  // What is attained: the other records are as far away as can be (add_remove), or contribute what
  // takes the record's place.
  const std::uint64_t span =
      relation == Relation::add_remove ? steps_of_replacing(relation) : std::uint64_t{1};
  const LawRun base = inner_law(*e.event, relation, {1, span});
  if (const LossLaw* law = instance(base)) out.lower = sampled_law(*law, rate);
  out.attained = relation == Relation::add_remove && base.attained;
  return out;
}

}  // namespace

bool two_views_of_sample(const Event& event, Relation relation) {
  const auto* sampled = event.get_if<SampledEvent>();
  return relation == Relation::zero_out && sampled && sampled->scheme != Scheme::poisson;
}

LawRun law_of(const Event& event, Relation relation, SampleView view) {
  const auto* sampled = event.get_if<SampledEvent>();
  if (!sampled) return unsampled(event, relation);
  if (sampled->scheme != Scheme::poisson) return fixed_size_run(*sampled, relation, view);
  if (sampled->rate == 1) return inner_law(*sampled->event, relation);
  if (relation == Relation::replace_one) return poisson_replace(*sampled->event, sampled->rate);
  return sampled_run(inner_law(*sampled->event, relation), sampled->rate);
}

}  // namespace sotto
