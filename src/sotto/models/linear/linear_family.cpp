#include "sotto/models/linear/linear_family.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "sotto/core/error.hpp"
#include "sotto/learning/basis.hpp"
#include "sotto/models/linear/detail/candidates_file.hpp"
#include "sotto/models/linear/detail/fitted_model.hpp"
#include "sotto/models/linear/training.hpp"

namespace sotto {
namespace {

std::vector<Option> options() {
  return {{.name = "regularisation",
           .type = OptionType::number,
           .value = "L",
           .help = "weight of the ridge; default by a public rule of the method",
           .range = Range::above(0)},
          {.name = "iterations",
           .type = OptionType::whole,
           .value = "T",
           .help = "gradient: steps; default by a public rule",
           .range = Range::from(1)},
          {.name = "batch",
           .type = OptionType::number,
           .value = "B",
           .help = "gradient: expected size of a Poisson-sampled mini-batch; default all rows",
           .range = Range::above(0)},
          {.name = "iterate",
           .type = OptionType::choice,
           .value = "WHICH",
           .help = "gradient: release the average of the iterates (default) or the last one",
           .choices = {"average", "last"}},
          {.name = "radius",
           .type = OptionType::number,
           .value = "R",
           .help = "ball of parameters: gradient with a batch projects to it, sample_aggregate "
                   "clips to it, exponential searches it",
           .range = Range::above(0)},
          {.name = "individual_budget",
           .type = OptionType::flag,
           .help = "gradient: each record has a budget of its own, and the noise is made for "
                   "gradients of a typical norm instead of the largest"},
          {.name = "typical_norm",
           .type = OptionType::number,
           .value = "R",
           .help = "individual_budget: typical norm of a gradient as a share of the largest; "
                   "default by a public rule",
           .range = {.lower = 0, .upper = 1, .open_lower = true}},
          {.name = "over_budget",
           .type = OptionType::choice,
           .value = "HOW",
           .help = "individual_budget: gradients that a record cannot pay for are shortened "
                   "(default) or left out",
           .choices = {"shorten", "drop"}},
          {.name = "parts",
           .type = OptionType::whole,
           .value = "K",
           .help = "sample_aggregate: number of parts; default by a public rule",
           .range = Range::from(1)},
          {.name = "aggregate",
           .type = OptionType::choice,
           .value = "HOW",
           .help = "sample_aggregate: noisy mean of the parts (default) or private medians",
           .choices = {"mean", "median"}},
          {.name = "bins",
           .type = OptionType::whole,
           .value = "N",
           .help = "input: bins of a numeric column; default by a public rule",
           .range = Range::from(1)},
          {.name = "candidates",
           .type = OptionType::file,
           .value = "FILE",
           .help = "exponential: public candidates, one line of parameters each; default a grid"}};
}

// Of gradients of a linear model, as a share of the largest norm: most records are on the right
// side.
constexpr double kTypicalNorm = 0.5;

RouteOptions route_options(const OptionValues& values) {
  RouteOptions o;
  o.iterations = values.maybe_whole("iterations").value_or(0);
  o.regularisation = values.maybe_number("regularisation").value_or(0);
  o.batch = values.maybe_number("batch").value_or(0);
  if (values.given("iterate")) o.average = values.text("iterate") == "average";
  o.radius = values.maybe_number("radius").value_or(0);
  o.typical_norm = values.maybe_number("typical_norm");
  if (values.given("over_budget")) o.over_budget = parse_over_budget(values.text("over_budget"));
  if ((o.typical_norm || o.over_budget) && !values.flag("individual_budget")) {
    throw InvalidArgument(fmt::format("`{}` means nothing without `individual_budget`",
                                      o.typical_norm ? "typical_norm" : "over_budget"),
                          "give `individual_budget` as well");
  }
  if (values.flag("individual_budget") && !o.typical_norm) o.typical_norm = kTypicalNorm;
  o.parts = values.maybe_whole("parts").value_or(0);
  if (values.given("aggregate")) o.aggregate = parse_aggregate(values.text("aggregate"));
  o.bins = values.maybe_whole("bins").value_or(0);
  if (values.given("candidates")) o.candidates = read_candidates(values.text("candidates"));
  return o;
}

// Whether a regression is worth bending: by gradients, of enough rows.
bool regression_bends(const Schema& schema, const TrainingRequest& request) {
  const bool possible = request.method == "auto" || request.method == "gradient";
  if (!possible || !request.budget || request.budget->is_pure() || !schema.rows) return false;
  Schema bent = schema;
  bent.basis = NumericBasis::hats;
  const double signal =
      signal_of(*schema.rows, schema.relation, schema.max_contributions, *request.budget);
  return hats_pay(signal, Encoder(std::move(bent)).width() + 1);
}

// Hats for the methods that minimise a loss: for classes always, for numbers where they pay.
Schema prepare(Schema schema, const TrainingRequest& request) {
  constexpr std::string_view kBending[] = {"auto", "gradient", "objective", "output", "none"};
  const bool bends =
      std::find(std::begin(kBending), std::end(kBending), request.method) != std::end(kBending);
  if (parse_linear_kind(request.kind) == LinearKind::linear) {
    const bool open = schema.basis == NumericBasis::automatic;
    const bool pays = open && regression_bends(schema, request);
    return settle_basis(std::move(schema), pays);
  }
  return settle_basis(std::move(schema), bends);
}

std::unique_ptr<TrainingPlan> plan(const Facts& facts, const TrainingRequest& request) {
  RouteOptions route = route_options(request.options);
  route.spreads = request.spreads;
  auto training =
      std::make_unique<LinearTraining>(facts, LinearRequest{.kind = parse_linear_kind(request.kind),
                                                            .method = request.method,
                                                            .budget = request.budget,
                                                            .options = std::move(route)});
  check_method_options(linear_family(), training->method(), request.options);
  return training;
}

Merit merit(const Situation& s) {
  if (s.classes > 0)
    return {s.pure && s.classes == 2 && s.signal >= 20000 ? 0.85 : 0.3,
            "a pure epsilon, two classes, many records: one weight for each column"};
  if (s.pure) return {0.4, "a pure epsilon, few records or columns: one weight for each column"};
  return {s.signal < 300 ? 0.8 : 0.4, "hardly any records: one weight for each column"};
}

}  // namespace

Family linear_family() {
  return {.name = "linear",
          .title = "Linear models",
          .kinds = {{"logistic", {Task::classify}, "logistic regression, of a class"},
                    {"svm", {Task::classify}, "a linear support vector machine, of a class"},
                    {"linear", {Task::regress}, "linear regression, of a number"}},
          .methods = linear_methods(),
          .options = options(),
          .takes_spreads = true,
          .prepare = prepare,
          .plan = plan,
          .load = load_linear_model,
          .merit = merit};
}

}  // namespace sotto
