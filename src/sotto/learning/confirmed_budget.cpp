#include "sotto/learning/confirmed_budget.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/accounting/account.hpp"
#include "sotto/accounting/numeric/gaussian_dp.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

double rho_of(const Budget& budget) {
  if (const auto* zcdp = std::get_if<ZcdpBudget>(&budget.kind())) return zcdp->rho.value();
  const auto& approximate = std::get<ApproximateBudget>(budget.kind());
  const double mu = gaussian_mu(approximate.epsilon, approximate.delta);
  return mu * mu / 2;
}

bool within(const ApproximateBudget& budget, Relation relation, const Event& event) {
  return epsilon(Spec{relation, {event}}, budget.delta).upper <= budget.epsilon.value();
}

double largest_confirmed(const ApproximateBudget& budget, Relation relation, double guess,
                         const std::function<Event(double)>& event_of) {
  double above = guess, value = guess;
  for (int attempt = 0; attempt < 24; ++attempt) {
    if (within(budget, relation, event_of(value))) {
      // Not far below something refused: good enough. Else halve the distance a few times.
      for (int i = 0; i < 8 && above > value * 1.005; ++i) {
        const double middle = std::sqrt(above * value);
        (within(budget, relation, event_of(middle)) ? value : above) = middle;
      }
      return value;
    }
    above = value;
    value *= 1 - std::min(0.5, 1e-6 * std::pow(8.0, attempt));
  }
  throw AccountingError("no noise was found that meets the budget", "choose a larger epsilon");
}

Budget confirmed(const Budget& budget, Relation relation,
                 const std::function<Event(const Budget&)>& event_of) {
  const auto* approximate = std::get_if<ApproximateBudget>(&budget.kind());
  if (approximate == nullptr) return budget;
  return Budget::zcdp(largest_confirmed(*approximate, relation, rho_of(budget),
                                        [&](double rho) { return event_of(Budget::zcdp(rho)); }));
}

}  // namespace sotto
