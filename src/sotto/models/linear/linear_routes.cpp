#include "sotto/models/linear/linear_routes.hpp"

#include <fmt/format.h>

#include <cmath>
#include <functional>

#include "sotto/accounting/account.hpp"
#include "sotto/accounting/gaussian_dp.hpp"
#include "sotto/core/error.hpp"
#include "sotto/models/linear/exponential_route.hpp"
#include "sotto/models/linear/functional_mechanism.hpp"
#include "sotto/models/linear/input_perturbation.hpp"
#include "sotto/models/linear/minibatch_gradient.hpp"
#include "sotto/models/linear/noisy_gradient.hpp"
#include "sotto/models/linear/non_private_fit.hpp"
#include "sotto/models/linear/objective_perturbation.hpp"
#include "sotto/models/linear/output_perturbation.hpp"
#include "sotto/models/linear/sufficient_statistics.hpp"

namespace sotto {
namespace {

using RoutePtr = std::unique_ptr<LinearRoute>;

class NonPrivateRoute final : public LinearRoute {
 public:
  explicit NonPrivateRoute(NonPrivateOptions options) : options_(options) {}
  std::optional<Event> event() const override { return std::nullopt; }
  std::string describe() const override { return "an ordinary fit, NOT PRIVATE"; }
  LinearFit fit(const ExactRows& rows, Rng&, Progress*) const override {
    return {fit_without_privacy(rows, options_).model, std::nullopt};
  }

 private:
  NonPrivateOptions options_;
};

// The zCDP parameter of the Gaussian mechanism that meets the budget exactly.
double rho_of(const Budget& budget) {
  if (const auto* zcdp = std::get_if<ZcdpBudget>(&budget.kind())) return zcdp->rho.value();
  const auto& approximate = std::get<ApproximateBudget>(budget.kind());
  const double mu = gaussian_mu(approximate.epsilon, approximate.delta);
  return mu * mu / 2;
}

// Whether the accountant confirms the asked ε.
bool within(const ApproximateBudget& budget, Relation relation, const Event& event) {
  return epsilon(Spec{relation, {event}}, budget.delta).upper <= budget.epsilon.value();
}

// The route with the largest parameter, close to `start` or below it, that the accountant confirms.
RoutePtr largest_confirmed(const ApproximateBudget& budget, Relation relation, double start,
                           const std::function<RoutePtr(double)>& make) {
  double above = start, value = start;
  for (int attempt = 0; attempt < 24; ++attempt) {
    RoutePtr route = make(value);
    if (within(budget, relation, *route->event())) {
      // Not far below something refused: good enough. Else halve the distance a few times.
      for (int i = 0; i < 8 && above > value * 1.005; ++i) {
        const double middle = std::sqrt(above * value);
        RoutePtr better = make(middle);
        if (within(budget, relation, *better->event())) {
          value = middle;
          route = std::move(better);
        } else {
          above = middle;
        }
      }
      return route;
    }
    above = value;
    value *= 1 - std::min(0.5, 1e-6 * std::pow(8.0, attempt));
  }
  throw AccountingError("no noise was found that meets the budget", "choose a larger epsilon");
}

// A pure ε or a ρ goes to the route as it is; for an (ε, δ) a ρ is found.
RoutePtr in_budget(const Budget& budget, Relation relation,
                   const std::function<RoutePtr(const Budget&)>& make) {
  const auto* approximate = std::get_if<ApproximateBudget>(&budget.kind());
  if (approximate == nullptr) return make(budget);
  return largest_confirmed(*approximate, relation, rho_of(budget),
                           [&](double rho) { return make(Budget::zcdp(rho)); });
}

void refuse_pure(Method method, const PublicFacts& facts, const Budget& budget) {
  if (!budget.is_pure()) return;
  throw Unsupported(
      fmt::format("the method {} needs a delta or a rho: its noise is Gaussian", name(method)),
      fmt::format("give --delta as well, e.g. --delta 1e-6, or use --method {}",
                  facts.kind == LinearKind::linear ? "functional" : "objective"));
}

void refuse_users(Method method, const PublicFacts& facts) {
  if (facts.contributions == 1) return;
  throw Unsupported(fmt::format("the method {} takes one record of a user, the schema allows {}",
                                name(method), facts.contributions),
                    "set max_contributions = 1, or use --method gradient without --batch");
}

// An option that the method does not know.
void refuse_options(Method method, const RouteOptions& o) {
  const auto refuse = [&](bool given, std::string_view option, std::string_view knows) {
    if (!given) return;
    throw InvalidArgument(fmt::format("--{} means nothing to the method {}", option, name(method)),
                          fmt::format("leave it out, or use {}", knows));
  };
  const bool gradient = method == Method::gradient, mini = gradient && o.batch > 0;
  refuse(o.iterations != 0 && !gradient, "iterations", "--method gradient");
  refuse(o.batch != 0 && !gradient, "batch", "--method gradient");
  refuse(o.average.has_value() && !gradient, "iterate", "--method gradient");
  refuse(
      o.radius != 0 && !mini && method != Method::sample_aggregate && method != Method::exponential,
      "radius", "--method sample_aggregate, exponential, or gradient with --batch");
  refuse(o.parts != 0 && method != Method::sample_aggregate, "parts", "--method sample_aggregate");
  refuse(o.aggregate.has_value() && method != Method::sample_aggregate, "aggregate",
         "--method sample_aggregate");
  refuse(o.bins != 0 && method != Method::input, "bins", "--method input");
  refuse(!o.candidates.empty() && method != Method::exponential, "candidates",
         "--method exponential");
  refuse(o.regularisation != 0 &&
             (method == Method::exponential || method == Method::sufficient_statistics),
         "regularisation", "another method");
}

RoutePtr minibatch_route(const PublicFacts& facts, const Budget& budget,
                         const RouteOptions& options) {
  refuse_users(Method::gradient, facts);
  const auto* approximate = std::get_if<ApproximateBudget>(&budget.kind());
  if (approximate == nullptr) {
    throw Unsupported("mini-batches are accounted with an epsilon and a delta",
                      "give --epsilon and --delta, or leave out --batch");
  }
  const auto make = [&](double precision) {  // the inverse of the noise multiplier
    return route_of(MinibatchGradientPlan({.loss = loss_of(facts.kind),
                                           .outputs = facts.outputs,
                                           .batch = options.batch,
                                           .iterations = options.iterations,
                                           .regularisation = options.regularisation,
                                           .radius = options.radius,
                                           .average = options.average.value_or(true),
                                           .threads = options.threads},
                                          facts.relation, facts.rows, facts.dimension,
                                          1 / precision));
  };
  // What one unsampled step would allow is more than many sampled ones do, or not: search upwards first.
  double start = gaussian_mu(approximate->epsilon, approximate->delta) / 16;
  while (start < 64 && within(*approximate, facts.relation, *make(2 * start)->event())) start *= 2;
  return largest_confirmed(*approximate, facts.relation, 2 * start, make);
}

RoutePtr gradient_route(const PublicFacts& facts, const Budget& budget,
                        const RouteOptions& options) {
  refuse_pure(Method::gradient, facts, budget);
  if (options.batch > 0) return minibatch_route(facts, budget, options);
  return in_budget(budget, facts.relation, [&](const Budget& b) {
    return route_of(NoisyGradientPlan({.loss = loss_of(facts.kind),
                                       .outputs = facts.outputs,
                                       .iterations = options.iterations,
                                       .regularisation = options.regularisation,
                                       .average = options.average.value_or(true),
                                       .contributions = facts.contributions,
                                       .threads = options.threads},
                                      facts.relation, facts.rows, facts.dimension, rho_of(b)));
  });
}

}  // namespace

RoutePtr make_route(Method method, const PublicFacts& facts, const std::optional<Budget>& budget,
                    const RouteOptions& options) {
  const Loss loss = loss_of(facts.kind);
  if (method != Method::none && !budget) {
    throw InvalidArgument("training needs a budget",
                          "give --epsilon, --epsilon with --delta, or --rho");
  }
  refuse_options(method, options);
  switch (method) {
    case Method::none: {
      NonPrivateOptions plain{.loss = loss, .outputs = facts.outputs, .threads = options.threads};
      if (options.regularisation > 0) plain.regularisation = options.regularisation;
      return std::make_unique<NonPrivateRoute>(plain);
    }
    case Method::gradient: return gradient_route(facts, *budget, options);
    case Method::objective:
      refuse_users(method, facts);
      return route_of(ObjectivePerturbationPlan({.loss = loss,
                                                 .outputs = facts.outputs,
                                                 .regularisation = options.regularisation,
                                                 .threads = options.threads},
                                                facts.relation, facts.rows, facts.dimension,
                                                *budget));
    case Method::output:
      refuse_users(method, facts);
      return route_of(OutputPerturbationPlan({.loss = loss,
                                              .outputs = facts.outputs,
                                              .regularisation = options.regularisation,
                                              .threads = options.threads},
                                             facts.relation, facts.rows, facts.dimension, *budget));
    case Method::functional:
      return in_budget(*budget, facts.relation, [&](const Budget& b) {
        return route_of(FunctionalPlan({.loss = loss,
                                        .outputs = facts.outputs,
                                        .active = facts.active(),
                                        .contributions = facts.contributions,
                                        .regularisation = options.regularisation,
                                        .threads = options.threads},
                                       facts.relation, facts.rows, facts.dimension, b));
      });
    case Method::sufficient_statistics:
      refuse_pure(method, facts, *budget);
      if (facts.kind != LinearKind::linear) {
        throw Unsupported("sufficient_statistics fits the squared loss only",
                          "use --method functional or gradient, or --model linear");
      }
      return in_budget(*budget, facts.relation, [&](const Budget& b) {
        return route_of(SufficientStatisticsPlan(facts.relation, facts.dimension, rho_of(b),
                                                 facts.contributions, options.threads));
      });
    case Method::exponential:
      return route_of(ExponentialRoutePlan({.loss = loss,
                                            .outputs = facts.outputs,
                                            .candidates = options.candidates,
                                            .radius = options.radius,
                                            .contributions = facts.contributions,
                                            .threads = options.threads},
                                           facts.relation, facts.dimension, *budget));
    case Method::sample_aggregate:
      return in_budget(*budget, facts.relation, [&](const Budget& b) {
        return route_of(
            SampleAggregatePlan({.loss = loss,
                                 .outputs = facts.outputs,
                                 .aggregate = options.aggregate.value_or(Aggregate::mean),
                                 .parts = options.parts,
                                 .radius = options.radius,
                                 .regularisation = options.regularisation,
                                 .contributions = facts.contributions,
                                 .threads = options.threads},
                                facts.relation, facts.rows, facts.dimension, b));
      });
    case Method::input:
      return in_budget(*budget, facts.relation, [&](const Budget& b) {
        return route_of(InputPerturbationPlan({.bins = options.bins,
                                               .regularisation = options.regularisation,
                                               .threads = options.threads},
                                              facts, b));
      });
    case Method::automatic: break;
  }
  invariant_broken("a route without a method");
}

}  // namespace sotto
