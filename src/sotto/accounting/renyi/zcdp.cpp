#include "sotto/accounting/renyi/zcdp.hpp"

#include <cmath>

#include "sotto/accounting/composition/detail/simple_mechanism.hpp"
#include "sotto/accounting/composition/run_length.hpp"
#include "sotto/accounting/detail/refusal.hpp"
#include "sotto/core/numeric/outward.hpp"
#include "sotto/core/numeric/search.hpp"

namespace sotto {
namespace {

Concentrated cost_of_one(const Event& event, Relation relation) {
  if (const auto* e = event.get_if<GaussianEvent>())
    return {concentrated(e->noise_multiplier(relation)), 0};
  if (const auto* e = event.get_if<DiscreteGaussianEvent>())
    return {concentrated(e->sigma / e->sensitivity), 0};
  if (const auto* e = event.get_if<ZcdpEvent>()) return {e->rho, 0};
  if (const auto* e = event.get_if<GdpEvent>()) return {widen_up(e->mu * e->mu / 2, kUlp), 0};
  if (const auto* e = event.get_if<ExponentialEvent>())
    return {widen_up(e->epsilon * e->epsilon / 8, kUlp), 0};
  if (const auto* e = event.get_if<GnmaxEvent>())
    return {widen_up(1 / (e->sigma * e->sigma), 2 * kUlp), 0};
  if (const auto* e = event.get_if<ParallelEvent>()) {
    const auto of = [&](double Concentrated::*cost) {
      return parallel_cost(*e, relation, [&](const Event& part, Relation r) {
        return concentrated_cost(part, r).*cost;
      });
    };
    return {of(&Concentrated::rho), of(&Concentrated::delta)};
  }
  if (const auto pure = pure_parameters(event, relation)) {
    return {widen_up(pure->epsilon * pure->epsilon / 2, kUlp), pure->delta};
  }
  const bool shuffled = event.get_if<ShuffledEvent>() != nullptr;
  refuse("zcdp", event.name(),
         shuffled ? "basic, advanced, optimal" : "rdp, pld, basic, advanced, optimal");
}

}  // namespace

double zcdp_epsilon_basic(double rho, Delta delta) {
  return widen_up(rho + 2 * std::sqrt(-rho * std::log(delta.value())), 8 * kUlp);
}

OrderChoice zcdp_epsilon_tight(double rho, Delta delta) {
  if (rho == 0) return {0, 2, false};
  return best_epsilon([rho](double a) { return widen_up(rho * a, kUlp); }, delta);
}

double zcdp_rho(Epsilon epsilon, Delta delta) {
  const auto room = [&](double x) {
    return epsilon.value() - zcdp_epsilon_tight(std::exp(x), delta).value;
  };
  double low = -1, high = 0;
  while (room(low) <= 0) low *= 2;
  while (room(high) > 0) high = high * 2 + 1;
  return std::exp(narrow(room, low, high, 1e-13).low);
}

OrderChoice tcdp_epsilon(double rho, double omega, Delta delta) {
  return best_epsilon([rho](double a) { return widen_up(rho * a, kUlp); }, delta, next_down(omega));
}

Concentrated concentrated_cost(const Event& event, Relation relation) {
  Concentrated total;
  for (const Run& run : run_lengths(event)) {
    const Concentrated one = cost_of_one(run.event, relation);
    const auto count = static_cast<double>(run.count);
    total.rho = add_up(total.rho, run.count == 1 ? one.rho : multiply_up(one.rho, count));
    total.delta = add_up(total.delta, run.count == 1 ? one.delta : multiply_up(one.delta, count));
  }
  return total;
}

Bound zcdp_epsilon(const Spec& spec, Delta delta) {
  const Concentrated cost = concentrated_cost(spec.event(), spec.relation);
  const double room = cost.delta == 0 ? delta.value() : next_down(delta.value() - cost.delta);
  if (!(room > 0)) refuse_failure_probability("zcdp", cost.delta, delta.value());
  const double value = zcdp_epsilon_tight(cost.rho, Delta(room)).value;
  if (!std::isfinite(value)) refuse_unbounded("zcdp");
  return {value, 0, Accountant::zcdp,
          fmt::format("tight conversion from zCDP with rho = {:.6g}", cost.rho)};
}

Bound zcdp_delta(const Spec& spec, double epsilon) {
  const Concentrated cost = concentrated_cost(spec.event(), spec.relation);
  const double own =
      cost.rho == 0
          ? 0
          : best_delta([&](double a) { return widen_up(cost.rho * a, kUlp); }, epsilon).value;
  return {std::min(1.0, add_up(own, cost.delta)), 0, Accountant::zcdp,
          fmt::format("tight conversion from zCDP with rho = {:.6g}", cost.rho)};
}

}  // namespace sotto
