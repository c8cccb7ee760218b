#include "sotto/models/linear/linear_routes.hpp"

#include <fmt/format.h>

#include <cmath>
#include <functional>

#include "sotto/accounting/account.hpp"
#include "sotto/accounting/gaussian_dp.hpp"
#include "sotto/core/error.hpp"
#include "sotto/models/linear/noisy_gradient.hpp"
#include "sotto/models/linear/non_private_fit.hpp"
#include "sotto/models/linear/objective_perturbation.hpp"
#include "sotto/models/linear/output_perturbation.hpp"
#include "sotto/models/linear/sufficient_statistics.hpp"

namespace sotto {
namespace {

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
bool within(const Budget& budget, Relation relation, const Event& event) {
  const auto* approximate = std::get_if<ApproximateBudget>(&budget.kind());
  if (approximate == nullptr) return true;  // ρ is exact by construction
  const Bound bound = epsilon(Spec{relation, {event}}, approximate->delta);
  return bound.upper <= approximate->epsilon.value();
}

using InRho = std::function<std::unique_ptr<LinearRoute>(double rho)>;

std::unique_ptr<LinearRoute> gaussian_route(const Budget& budget, Relation relation,
                                            const InRho& make) {
  // The analytic ρ is exact for continuous noise; the lattice may cost a few parts in a billion more.
  double rho = rho_of(budget);
  for (int attempt = 0; attempt < 8; ++attempt) {
    std::unique_ptr<LinearRoute> route = make(rho);
    if (within(budget, relation, *route->event())) return route;
    rho *= 1 - 1e-6 * std::pow(8.0, attempt);
  }
  throw AccountingError("no noise was found that meets the budget", "choose a larger epsilon");
}

void refuse_pure(Method method, const PublicFacts& facts, const Budget& budget) {
  if (!budget.is_pure()) return;
  throw Unsupported(
      fmt::format("the method {} needs a delta or a rho: its noise is Gaussian", name(method)),
      facts.kind == LinearKind::linear ? "give --delta as well, e.g. --delta 1e-6"
                                       : "give --delta as well, or use --method objective");
}

void refuse_users(Method method, const PublicFacts& facts) {
  if (facts.contributions == 1) return;
  throw Unsupported(fmt::format("the method {} takes one record of a user, the schema allows {}",
                                name(method), facts.contributions),
                    "set max_contributions = 1, or use --method gradient");
}

}  // namespace

std::unique_ptr<LinearRoute> make_route(Method method, const PublicFacts& facts,
                                        const std::optional<Budget>& budget,
                                        const RouteOptions& options) {
  const Loss loss = loss_of(facts.kind);
  if (method != Method::none && !budget) {
    throw InvalidArgument("training needs a budget",
                          "give --epsilon, --epsilon with --delta, or --rho");
  }
  switch (method) {
    case Method::none:
      return std::make_unique<NonPrivateRoute>(
          NonPrivateOptions{.loss = loss, .outputs = facts.outputs, .threads = options.threads});
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
    case Method::sufficient_statistics:
      refuse_pure(method, facts, *budget);
      if (facts.kind != LinearKind::linear) {
        throw Unsupported("sufficient_statistics fits the squared loss only",
                          "use --method gradient, or --model linear");
      }
      return gaussian_route(*budget, facts.relation, [&](double rho) {
        return route_of(SufficientStatisticsPlan(facts.relation, facts.dimension, rho,
                                                 facts.contributions, options.threads));
      });
    case Method::gradient:
      refuse_pure(method, facts, *budget);
      return gaussian_route(*budget, facts.relation, [&](double rho) {
        return route_of(NoisyGradientPlan({.loss = loss,
                                           .outputs = facts.outputs,
                                           .iterations = options.iterations,
                                           .regularisation = options.regularisation,
                                           .contributions = facts.contributions,
                                           .threads = options.threads},
                                          facts.relation, facts.rows, facts.dimension, rho));
      });
    case Method::automatic: break;
  }
  invariant_broken("a route without a method");
}

}  // namespace sotto
