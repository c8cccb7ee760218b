#include "sotto/accounting/budget/filter.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "sotto/accounting/composition/detail/simple_mechanism.hpp"
#include "sotto/accounting/composition/run_length.hpp"
#include "sotto/accounting/detail/refusal.hpp"
#include "sotto/accounting/renyi/renyi.hpp"
#include "sotto/accounting/renyi/zcdp.hpp"
#include "sotto/core/numeric/gaussian_dp.hpp"
#include "sotto/core/numeric/outward.hpp"

namespace sotto {
namespace {

constexpr std::string_view kNames[] = {"zcdp", "renyi", "gdp", "approximate"};

void positive(std::string_view what, double value) {
  if (!(value > 0) || !std::isfinite(value)) {
    throw InvalidArgument(
        fmt::format("the {} of a filter is {}; it must be a finite number above 0", what, value));
  }
}

}  // namespace

std::string_view name(FilterKind kind) { return kNames[static_cast<int>(kind)]; }

FilterKind parse_filter_kind(std::string_view text) {
  for (FilterKind k :
       {FilterKind::zcdp, FilterKind::renyi, FilterKind::gdp, FilterKind::approximate}) {
    if (text == name(k)) return k;
  }
  if (text == "pld") {
    throw Unsupported(
        "privacy loss distributions do not compose when parameters are chosen adaptively: there is "
        "no pld filter",
        "use zcdp, renyi, gdp or approximate; pld accounts for events fixed in advance");
  }
  throw InvalidArgument(fmt::format("unknown filter '{}'", text),
                        "use zcdp, renyi, gdp or approximate");
}

Filter Filter::zcdp(Rho budget, Relation relation) {
  return {FilterKind::zcdp, relation, budget.value()};
}

Filter Filter::renyi(double order, double budget, Relation relation) {
  if (!(order > 1) || !std::isfinite(order)) {
    throw InvalidArgument(fmt::format(
        "the order of a Rényi filter is {}; it must be a finite number above 1", order));
  }
  positive("budget", budget);
  Filter f(FilterKind::renyi, relation, budget);
  f.order_ = order;
  return f;
}

Filter Filter::renyi_for(Epsilon epsilon, Delta delta, double order, Relation relation) {
  // ε = r + ln(1 − 1/α) − ln(δα)/(α−1), solved for r and lowered until the conversion agrees.
  double budget =
      epsilon.value() - std::log1p(-1 / order) + std::log(delta.value() * order) / (order - 1);
  for (double step = 1e-15; budget > 0 && renyi_epsilon(order, budget, delta) > epsilon.value();
       step *= 2)
    budget -= step;
  if (!(budget > 0)) {
    throw InvalidArgument(fmt::format("no budget remains at order {} for epsilon {} and delta {}",
                                      order, epsilon.value(), delta.value()),
                          "choose a larger order: roughly 1 + 2 ln(1/delta) / epsilon");
  }
  return renyi(order, budget, relation);
}

Filter Filter::gdp(double mu, Relation relation) {
  positive("mu", mu);
  return {FilterKind::gdp, relation, next_down(mu * mu)};
}

Filter Filter::approximate(Epsilon epsilon, Delta delta, Relation relation, double own_delta) {
  if (!(own_delta >= 0 && own_delta < delta.value())) {
    throw InvalidArgument(fmt::format("own_delta is {}; it must be 0 or more and below delta {}",
                                      own_delta, delta.value()));
  }
  const double rest = own_delta == 0 ? delta.value() : next_down(delta.value() - own_delta);
  Filter f(FilterKind::approximate, relation, zcdp_rho(epsilon, Delta(rest)));
  f.delta_budget_ = own_delta;
  f.target_epsilon_ = epsilon.value(), f.target_delta_ = delta.value();
  return f;
}

Filter::Cost Filter::cost(const Event& event) const {
  Cost total;
  for (const Run& run : run_lengths(event)) {
    double amount = 0, delta = 0;
    switch (kind_) {
      case FilterKind::zcdp:
      case FilterKind::approximate: {
        const Concentrated c = concentrated_cost(run.event, relation_);
        amount = c.rho, delta = c.delta;
        break;
      }
      case FilterKind::renyi: {
        const RenyiCurve curve(run.event, relation_);
        amount = order_ <= curve.largest_order() ? curve(order_) : kInfinity, delta = curve.delta();
        break;
      }
      case FilterKind::gdp: amount = gdp_squared(run.event, relation_); break;
    }
    if (!std::isfinite(amount)) {
      throw BudgetExceeded(fmt::format("one {} event has no finite cost for this {} filter",
                                       run.event.name(), name(kind_)));
    }
    total.amount.add(amount, run.count);
    total.delta.add(delta, run.count);
  }
  return total;
}

Filter::Cost Filter::after(const Event& event) const {
  Cost c = cost(event);
  c.amount.add(spent_);
  c.delta.add(spent_delta_);
  return c;
}

bool Filter::would_exceed(const Event& event) const {
  const Cost c = after(event);
  return c.amount > ExactSum(budget_) || c.delta > ExactSum(delta_budget_);
}

void Filter::try_spend(const Event& event) {
  const Cost c = after(event);
  if (c.amount > ExactSum(budget_)) {
    throw BudgetExceeded(
        fmt::format("the {} filter has spent {:.6g} of {:.6g}; this event would bring it to {:.6g}",
                    name(kind_), spent(), budget_, c.amount.upper()),
        "nothing was spent; use more noise or a smaller event");
  }
  if (c.delta > ExactSum(delta_budget_)) {
    throw BudgetExceeded(
        fmt::format("the {} filter sets aside {:.6g} for failure probabilities; this event would "
                    "bring them to {:.6g}",
                    name(kind_), delta_budget_, c.delta.upper()),
        "use an approximate filter with a larger own_delta, or an event without delta");
  }
  spent_ = c.amount, spent_delta_ = c.delta;
}

double Filter::epsilon(Delta delta) const {
  switch (kind_) {
    case FilterKind::zcdp: return zcdp_epsilon_tight(budget_, delta).value;
    case FilterKind::renyi: return renyi_epsilon(order_, budget_, delta);
    case FilterKind::gdp: return gaussian_epsilon_upper(next_up(std::sqrt(budget_)), delta);
    case FilterKind::approximate: break;
  }
  const double rest = delta_budget_ == 0 ? delta.value() : delta.value() - delta_budget_;
  if (!(rest > 0)) refuse_failure_probability("approximate filter", delta_budget_, delta.value());
  return zcdp_epsilon_tight(budget_, Delta(next_down(rest))).value;
}

nlohmann::ordered_json Filter::to_json() const {
  nlohmann::ordered_json j = {{"schema", 1},
                              {"filter", name(kind_)},
                              {"relation", sotto::name(relation_)},
                              {"budget", budget_}};
  if (kind_ == FilterKind::renyi) j["order"] = order_;
  if (kind_ == FilterKind::approximate) {
    j["epsilon"] = target_epsilon_, j["delta"] = target_delta_, j["own_delta"] = delta_budget_;
  }
  j["spent"] = spent_.hex(), j["spent_delta"] = spent_delta_.hex();
  return j;
}

Filter Filter::from_json(const nlohmann::ordered_json& j) {
  try {
    if (j.at("schema") != 1)
      throw DataError("a stored filter has an unknown schema", "it must be 1");
    const FilterKind kind = parse_filter_kind(j.at("filter").get<std::string>());
    const Relation relation = parse_relation(j.at("relation").get<std::string>());
    const double budget = j.at("budget").get<double>();
    positive("budget", budget);
    Filter f(kind, relation, budget);
    if (kind == FilterKind::renyi)
      f.order_ = renyi(j.at("order").get<double>(), budget, relation).order_;
    if (kind == FilterKind::approximate) {
      f.target_epsilon_ = Epsilon(j.at("epsilon").get<double>()).value();
      f.target_delta_ = Delta(j.at("delta").get<double>()).value();
      f.delta_budget_ = j.at("own_delta").get<double>();
      const double allowed =
          approximate(Epsilon(f.target_epsilon_), Delta(f.target_delta_), relation, f.delta_budget_)
              .budget_;
      if (budget > allowed)
        throw DataError("a stored filter has a larger budget than its epsilon and delta allow");
    }
    f.spent_ = ExactSum::from_hex(j.at("spent").get<std::string>());
    f.spent_delta_ = ExactSum::from_hex(j.at("spent_delta").get<std::string>());
    if (f.spent_ > ExactSum(budget) || f.spent_delta_ > ExactSum(f.delta_budget_)) {
      throw DataError("a stored filter has spent more than its budget");
    }
    return f;
  } catch (const nlohmann::json::exception&) {
    throw DataError("a stored filter lacks a field or has one of the wrong type",
                    "fields: schema, filter, relation, budget, order, epsilon, delta, own_delta, "
                    "spent, spent_delta");
  } catch (const InvalidArgument& e) {
    throw DataError(std::string("a stored filter cannot be used: ") + e.what(), e.hint());
  }
}

double gdp_squared(const Event& event, Relation relation) {
  if (const auto* p = event.get_if<ParallelEvent>()) {
    return parallel_cost(*p, relation, [](const Event& part, Relation r) {
      double sum = 0;
      for (const Run& run : run_lengths(part)) {
        sum = add_up(sum, multiply_up(gdp_squared(run.event, r), static_cast<double>(run.count)));
      }
      return sum;
    });
  }
  if (const auto mu = gdp_parameter(event, relation)) return multiply_up(*mu, *mu);
  if (const auto pure = pure_parameters(event, relation); pure && pure->delta == 0) {
    const double mu = pure_to_mu(pure->epsilon);
    return multiply_up(mu, mu);
  }
  refuse("gdp filter", event.name(), "a renyi filter");
}

double filter_epsilon_of_squares(double sum_of_squares, Delta delta) {
  return widen_up(std::sqrt(-2 * std::log(delta.value()) * sum_of_squares) + sum_of_squares / 2,
                  8 * kUlp);
}

}  // namespace sotto
