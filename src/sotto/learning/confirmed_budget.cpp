#include "sotto/learning/confirmed_budget.hpp"

#include "sotto/accounting/calibrate.hpp"
#include "sotto/core/numeric/gaussian_dp.hpp"

namespace sotto {

double rho_of(const Budget& budget) {
  if (const auto* zcdp = std::get_if<ZcdpBudget>(&budget.kind())) return zcdp->rho.value();
  const auto& approximate = std::get<ApproximateBudget>(budget.kind());
  const double mu = gaussian_mu(approximate.epsilon, approximate.delta);
  return mu * mu / 2;
}

Budget confirmed(const Budget& budget, Relation relation,
                 const std::function<Event(const Budget&)>& event_of) {
  const auto* approximate = std::get_if<ApproximateBudget>(&budget.kind());
  if (approximate == nullptr) return budget;
  const Unknown rho{.name = "rho", .at = [&](double value) {
                      return Spec{relation, {event_of(Budget::zcdp(value))}};
                    }};
  return Budget::zcdp(
      confirm(rho, rho_of(budget), Safer::smaller, approximate->epsilon, approximate->delta).value);
}

}  // namespace sotto
