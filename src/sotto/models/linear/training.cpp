#include "sotto/models/linear/training.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sotto/accounting/account.hpp"
#include "sotto/accounting/gaussian_dp.hpp"
#include "sotto/core/error.hpp"
#include "sotto/models/linear/non_private_fit.hpp"

namespace sotto {
namespace {

constexpr LinearKind kKinds[] = {LinearKind::logistic, LinearKind::svm, LinearKind::linear};
constexpr Method kMethods[] = {Method::automatic,
                               Method::gradient,
                               Method::objective,
                               Method::output,
                               Method::sufficient_statistics,
                               Method::none};
constexpr double kIntercept = 1;

// The zCDP parameter of the Gaussian mechanism that meets the budget exactly.
double rho_of(const Budget& budget) {
  if (const auto* zcdp = std::get_if<ZcdpBudget>(&budget.kind())) return zcdp->rho.value();
  const auto& approximate = std::get<ApproximateBudget>(budget.kind());
  const double mu = gaussian_mu(approximate.epsilon, approximate.delta);
  return mu * mu / 2;
}

Loss loss_of(LinearKind kind) {
  switch (kind) {
    case LinearKind::logistic: return Loss::logistic;
    case LinearKind::svm: return Loss::huber_hinge;
    case LinearKind::linear: return Loss::squared;
  }
  return Loss::logistic;
}

template <class Plan>
std::optional<Event> event_of(const Plan& plan) {
  return std::visit(
      overloaded{[](const std::monostate&) -> std::optional<Event> { return std::nullopt; },
                 [](const auto& p) -> std::optional<Event> { return p.event(); }},
      plan);
}

std::uint64_t contributions(const Schema& schema) {
  return schema.unit == Unit::user ? schema.max_contributions : 1;
}

}  // namespace

std::string_view name(LinearKind kind) {
  switch (kind) {
    case LinearKind::logistic: return "logistic";
    case LinearKind::svm: return "svm";
    case LinearKind::linear: return "linear";
  }
  return "logistic";
}

LinearKind parse_linear_kind(std::string_view text) {
  for (LinearKind kind : kKinds) {
    if (text == name(kind)) return kind;
  }
  throw InvalidArgument(fmt::format("unknown model '{}'", text), "use logistic, svm or linear");
}

std::string_view name(Method method) {
  switch (method) {
    case Method::automatic: return "auto";
    case Method::gradient: return "gradient";
    case Method::objective: return "objective";
    case Method::output: return "output";
    case Method::sufficient_statistics: return "sufficient_statistics";
    case Method::none: return "none";
  }
  return "auto";
}

Method parse_method(std::string_view text) {
  for (Method method : kMethods) {
    if (text == name(method)) return method;
  }
  throw InvalidArgument(fmt::format("unknown method '{}'", text),
                        "'sotto train --help' lists the methods");
}

LinearTraining::LinearTraining(const Encoder& encoder, const TrainingRequest& request)
    : encoder_(encoder),
      kind_(request.kind),
      method_(request.method),
      dimension_(encoder.width() + 1) {
  const bool classification = encoder.target().is_categorical() || !encoder.target().is_numeric();
  if (classification != (kind_ != LinearKind::linear)) {
    throw InvalidArgument(
        fmt::format("the model {} does not fit the target '{}', which is {}", name(kind_),
                    encoder.target().column().name, classification ? "a class" : "a number"),
        classification ? "use --model logistic or svm" : "use --model linear");
  }
  if (classification) {
    const std::size_t classes = encoder.target().labels().size();
    if (classes < 2)
      throw DataError("the target has fewer than two declared classes",
                      "declare all classes in the schema");
    outputs_ = classes == 2 ? 1 : classes;
  }
  if (!encoder.schema().rows) {
    throw DataError("the schema declares no number of rows",
                    "add rows = N at its top: a public number, used as divisor; it need not be "
                    "exact under add_remove");
  }
  rows_ = *encoder.schema().rows;
  if (method_ != Method::none && !request.budget) {
    throw InvalidArgument("training needs a budget",
                          "give --epsilon, --epsilon with --delta, or --rho");
  }
  choose(request);
  plan_ = make_plan(request);
}

void LinearTraining::choose(const TrainingRequest& request) {
  const bool regression = kind_ == LinearKind::linear;
  reason_ = "asked for";
  if (method_ == Method::automatic) {
    method_ = regression                  ? Method::sufficient_statistics
              : request.budget->is_pure() ? Method::objective
                                          : Method::gradient;
    reason_ =
        regression
            ? "regression: noisy moments with an adaptive ridge need one pass and no step size"
        : request.budget->is_pure()
            ? "a pure epsilon: one noisy objective costs less than many noisy steps"
            : "with Gaussian noise, gradients compose best";
  }
  const bool gaussian_only =
      method_ == Method::gradient || method_ == Method::sufficient_statistics;
  if (gaussian_only && request.budget->is_pure()) {
    throw Unsupported(
        fmt::format("the method {} needs a delta or a rho: its noise is Gaussian", name(method_)),
        regression ? "give --delta as well, e.g. --delta 1e-6"
                   : "give --delta as well, or use --method objective");
  }
  if (method_ == Method::sufficient_statistics && !regression) {
    throw Unsupported("sufficient_statistics fits the squared loss only",
                      "use --method gradient, or --model linear");
  }
  const bool one_record = contributions(encoder_.schema()) == 1;
  if ((method_ == Method::objective || method_ == Method::output) && !one_record) {
    throw Unsupported(fmt::format("the method {} takes one record of a user, the schema allows {}",
                                  name(method_), contributions(encoder_.schema())),
                      "set max_contributions = 1, or use --method gradient");
  }
}

LinearTraining::Plan LinearTraining::make_gaussian_plan(const TrainingRequest& request,
                                                        double rho) const {
  const Schema& schema = encoder_.schema();
  if (method_ == Method::sufficient_statistics) {
    return SufficientStatisticsPlan(schema.relation, dimension_, rho, contributions(schema),
                                    request.threads);
  }
  return NoisyGradientPlan({.loss = loss_of(kind_),
                            .outputs = outputs_,
                            .iterations = request.iterations,
                            .regularisation = request.regularisation,
                            .contributions = contributions(schema),
                            .threads = request.threads},
                           schema.relation, rows_, dimension_, rho);
}

// Whether the accountant confirms the asked ε.
bool LinearTraining::within(const Budget& budget, const Plan& plan) const {
  const auto* approximate = std::get_if<ApproximateBudget>(&budget.kind());
  if (approximate == nullptr) return true;  // ρ is exact by construction
  const Bound bound = epsilon(Spec{relation(), {*event_of(plan)}}, approximate->delta);
  return bound.upper <= approximate->epsilon.value();
}

LinearTraining::Plan LinearTraining::make_plan(const TrainingRequest& request) const {
  const Relation relation = encoder_.schema().relation;
  switch (method_) {
    case Method::none: return std::monostate{};
    case Method::objective:
      return ObjectivePerturbationPlan({.loss = loss_of(kind_),
                                        .outputs = outputs_,
                                        .regularisation = request.regularisation,
                                        .threads = request.threads},
                                       relation, rows_, dimension_, *request.budget);
    case Method::output:
      return OutputPerturbationPlan({.loss = loss_of(kind_),
                                     .outputs = outputs_,
                                     .regularisation = request.regularisation,
                                     .threads = request.threads},
                                    relation, rows_, dimension_, *request.budget);
    default: break;
  }
  // The analytic ρ is exact for continuous noise; the lattice may cost a few parts in a billion more.
  double rho = rho_of(*request.budget);
  for (int attempt = 0; attempt < 8; ++attempt) {
    Plan plan = make_gaussian_plan(request, rho);
    if (within(*request.budget, plan)) return plan;
    rho *= 1 - 1e-6 * std::pow(8.0, attempt);
  }
  throw AccountingError("no noise was found that meets the budget", "choose a larger epsilon");
}

Relation LinearTraining::relation() const { return encoder_.schema().relation; }

std::optional<Event> LinearTraining::event() const { return event_of(plan_); }

std::string LinearTraining::describe() const {
  return std::visit(
      overloaded{[](std::monostate) -> std::string { return "an ordinary fit, NOT PRIVATE"; },
                 [](const auto& plan) -> std::string { return plan.describe(); }},
      plan_);
}

std::vector<std::string> LinearTraining::assumptions() const {
  const Schema& schema = encoder_.schema();
  std::vector<std::string> list = {
      fmt::format("the schema (columns, bounds, categories, {} rows) is public and was not read "
                  "from this data",
                  rows_),
      fmt::format("encoded records have l2 norm at most {:.6g}; longer ones are scaled down",
                  encoder_.norm_bound())};
  if (schema.unit == Unit::user) {
    list.push_back(fmt::format("at most {} records of a user are used", schema.max_contributions));
  }
  return list;
}

ExactRows LinearTraining::exact_rows(const Table& table) const {
  ExactRows rows(encoder_.width(), encoder_.norm_bound(), kIntercept);
  rows.reserve(table.rows());
  std::vector<double> wide(table.width());
  std::vector<float> row(table.width());
  const bool binary = kind_ != LinearKind::linear && outputs_ == 1;
  for (std::size_t i = 0; i < table.rows(); ++i) {
    table.row(i, wide);
    for (std::size_t j = 0; j < wide.size(); ++j) row[j] = static_cast<float>(wide[j]);
    const double target = table.targets()[i];
    rows.add(row, static_cast<float>(binary ? 2 * target - 1 : target));
  }
  return rows;
}

LinearTraining::Fit LinearTraining::run(const Table& table, Rng& rng, Progress* progress) const {
  const ExactRows rows = exact_rows(table);
  const auto released = [](Release<LinearModel> release) {
    return Fit{std::move(release.value), std::move(release.event)};
  };
  return std::visit(
      overloaded{
          [&](std::monostate) {
            return Fit{
                fit_without_privacy(rows, {.loss = loss_of(kind_), .outputs = outputs_}).model,
                std::nullopt};
          },
          [&](const NoisyGradientPlan& plan) { return released(plan.run(rows, rng, progress)); },
          [&](const auto& plan) { return released(plan.run(rows, rng)); }},
      plan_);
}

}  // namespace sotto
