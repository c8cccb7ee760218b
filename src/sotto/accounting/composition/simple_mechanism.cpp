#include "sotto/accounting/composition/detail/simple_mechanism.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/accounting/composition/run_length.hpp"
#include "sotto/accounting/detail/refusal.hpp"
#include "sotto/accounting/numeric/detail/lattice.hpp"
#include "sotto/core/numeric/gaussian_dp.hpp"
#include "sotto/core/numeric/outward.hpp"

namespace sotto {

std::optional<ApproximateDp> pure_parameters(const Event& event, Relation relation) {
  const auto pure = [](double epsilon) { return std::optional(ApproximateDp{epsilon, 0, 1}); };
  // A quotient that is exact in binary stays exact: 1/2 is 0.5, not the next number.
  const auto quotient = [](double a, double b) {
    const double q = a / b;
    return std::fma(q, b, -a) < 0 ? next_up(q) : q;
  };
  if (const auto* e = event.get_if<LaplaceEvent>())
    return pure(quotient(1, e->noise_multiplier(relation)));
  if (const auto* e = event.get_if<DiscreteLaplaceEvent>())
    return pure(quotient(e->sensitivity, e->scale));
  if (const auto* e = event.get_if<RandomizedResponseEvent>()) return pure(e->epsilon);
  if (const auto* e = event.get_if<ExponentialEvent>()) return pure(e->epsilon);
  if (const auto* e = event.get_if<PureEvent>()) return pure(e->epsilon);
  if (const auto* e = event.get_if<LnmaxEvent>()) return pure(quotient(2, e->scale));
  if (const auto* e = event.get_if<ApproximateEvent>())
    return ApproximateDp{e->epsilon, e->delta, 1};
  return std::nullopt;
}

double concentrated(double noise_multiplier) {
  return widen_up(0.5 / noise_multiplier / noise_multiplier, 3 * kUlp);
}

std::optional<double> gdp_parameter(const Event& event, Relation relation) {
  double sum = 0;
  for (const Run& run : run_lengths(event)) {
    double square = 0;
    if (const auto* g = run.event.get_if<GaussianEvent>()) {
      square = 1 / g->noise_multiplier(relation) / g->noise_multiplier(relation);
    } else if (const auto* e = run.event.get_if<GdpEvent>()) {
      square = e->mu * e->mu;
    } else {
      return std::nullopt;
    }
    sum = add_up(sum, widen_up(square * static_cast<double>(run.count), 4 * kUlp));
  }
  return sum == 0 ? 0 : next_up(std::sqrt(sum));
}

std::uint64_t lattice_steps(const DiscreteLaplaceEvent& e) {
  const double steps = lattice_steps_up(e.sensitivity, e.granularity);
  if (steps > 9e15)
    refuse("rdp", "discrete_laplace with more than 9e15 lattice steps in its sensitivity", "");
  return static_cast<std::uint64_t>(steps);
}

std::vector<double> scaled_shifts(const GaussianMixtureEvent& e) {
  std::vector<double> shifts;
  for (double s : e.sensitivities) shifts.push_back(s == 0 ? 0 : next_up(s / e.sigma));
  return shifts;
}

double parallel_cost(const ParallelEvent& event, Relation relation,
                     const std::function<double(const Event&, Relation)>& cost) {
  std::vector<double> stays, moves;
  for (const Event& part : event.events) {
    stays.push_back(cost(part, relation));
    if (relation == Relation::replace_one) moves.push_back(cost(part, Relation::add_remove));
  }
  return parallel_cost(stays, moves);
}

double parallel_cost(const std::vector<double>& stays, const std::vector<double>& moves) {
  double first = 0, second = 0;
  for (double cost : moves) {
    second = std::max(second, std::min(first, cost));
    first = std::max(first, cost);
  }
  return std::max(*std::ranges::max_element(stays), add_up(first, second));
}

void require_public_size(const SampledEvent& event, Relation relation) {
  if (relation == Relation::add_remove) {
    refuse_relation(std::string("sampled ") + std::string(name(event.scheme)), relation,
                    "replace_one or zero_out (a fixed-size sample needs a public number of "
                    "records), or sample by poisson");
  }
}

double fixed_size_rate(const SampledEvent& e) {
  if (e.size >= e.population) return 1;
  return std::min(
      1.0, widen_up(static_cast<double>(e.size) / static_cast<double>(e.population), 2 * kUlp));
}

}  // namespace sotto
