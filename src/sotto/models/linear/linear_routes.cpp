#include "sotto/models/linear/linear_routes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "sotto/accounting/calibrate.hpp"
#include "sotto/core/error.hpp"
#include "sotto/learning/confirmed_budget.hpp"
#include "sotto/models/linear/detail/exponential_route.hpp"
#include "sotto/models/linear/detail/functional_mechanism.hpp"
#include "sotto/models/linear/detail/input_perturbation.hpp"
#include "sotto/models/linear/detail/minibatch_gradient.hpp"
#include "sotto/models/linear/detail/noisy_gradient.hpp"
#include "sotto/models/linear/detail/non_private_fit.hpp"
#include "sotto/models/linear/detail/objective_perturbation.hpp"
#include "sotto/models/linear/detail/output_perturbation.hpp"
#include "sotto/models/linear/detail/sufficient_statistics.hpp"

namespace sotto {
namespace {

using RoutePtr = std::unique_ptr<LinearRoute>;

class NonPrivateRoute final : public LinearRoute {
 public:
  explicit NonPrivateRoute(NonPrivateOptions options) : options_(std::move(options)) {}
  std::optional<Event> event() const override { return std::nullopt; }
  std::string describe() const override { return "an ordinary fit, NOT PRIVATE"; }
  LinearFit fit(const ExactRows& rows, Rng&, Progress*) const override {
    return fit_without_privacy(rows, options_);
  }

 private:
  NonPrivateOptions options_;
};

// A pure ε or a ρ goes to the route as it is; for an (ε, δ) a ρ is found.
RoutePtr in_budget(const Budget& budget, Relation relation,
                   const std::function<RoutePtr(const Budget&)>& make) {
  return make(confirmed(budget, relation, [&](const Budget& b) { return *make(b)->event(); }));
}

void refuse_pure(std::string_view method, const PublicFacts& facts, const Budget& budget) {
  if (!budget.is_pure()) return;
  throw Unsupported(
      fmt::format("the method {} needs a delta or a rho: its noise is Gaussian", method),
      fmt::format("give `delta` as well, e.g. `delta` 1e-6, or use `method` {}",
                  facts.kind == LinearKind::linear ? "functional" : "objective"));
}

void refuse_users(std::string_view method, const PublicFacts& facts) {
  if (facts.contributions == 1) return;
  throw Unsupported(fmt::format("the method {} takes one record of a user, the schema allows {}",
                                method, facts.contributions),
                    "set max_contributions = 1, or use `method` gradient without `batch`");
}

RoutePtr minibatch_route(const PublicFacts& facts, const Budget& budget,
                         const RouteOptions& options) {
  refuse_users("gradient", facts);
  const auto* approximate = std::get_if<ApproximateBudget>(&budget.kind());
  if (approximate == nullptr) {
    throw Unsupported("mini-batches are accounted with an epsilon and a delta",
                      "give `epsilon` and `delta`, or leave out `batch`");
  }
  const auto make = [&](double noise_multiplier) {
    return route_of(MinibatchGradientPlan({.loss = loss_of(facts.kind),
                                           .outputs = facts.outputs,
                                           .batch = options.batch,
                                           .iterations = options.iterations,
                                           .regularisation = options.regularisation,
                                           .radius = options.radius,
                                           .average = options.average.value_or(true),
                                           .threads = options.threads},
                                          facts.relation, facts.rows, facts.dimension,
                                          noise_multiplier));
  };
  const Unknown noise{.name = "noise_multiplier", .at = [&](double value) {
                        return Spec{facts.relation, {*make(value)->event()}};
                      }};
  return make(calibrate(noise, approximate->epsilon, approximate->delta).value);
}

// How far noise may move a prediction. Margins of a class reach far. Numbers lie within [−1, 1]:
// the less there is to learn against the noise, the less it may move them. Rows with hats fill the
// unit ball, plain ones hardly do, so that noise moves those less.
double noise_travel(const PublicFacts& facts, const Budget& budget) {
  if (facts.kind != LinearKind::linear) return 3;
  const bool hats = facts.without_hats() < facts.dimension;
  const double signal = signal_of(facts.rows, facts.relation, facts.contributions, budget);
  const double strength = signal / static_cast<double>(facts.dimension);
  return hats ? std::min(0.6 * std::pow(strength, 0.2), 1.5)
              : std::min(0.35 * std::pow(strength, 0.25), 2.0);
}

// A regression is a plane before it bends: steps along hats are half as long.
std::vector<double> paces_of(const PublicFacts& facts) {
  constexpr double kHatPace = 0.5;
  if (facts.kind != LinearKind::linear || facts.without_hats() == facts.dimension) return {};
  std::vector<double> paces(facts.dimension, 1.0);
  for (const EncodedColumn& column : facts.columns) {
    const auto first = paces.begin() + static_cast<std::ptrdiff_t>(column.first + column.width);
    std::fill_n(first, column.hats, kHatPace);
  }
  return paces;
}

// A regression finds the scale of its gradients, unless records have budgets of their own, or are
// so few that what it would find is noise, or so many that looking takes longer than noise matters.
std::optional<GradientScale> scale_of(const PublicFacts& facts, const Budget& budget,
                                      const RouteOptions& options) {
  // Records for each unit of noise.
  constexpr double kFewestPerCoordinate = 3, kManyPerCoordinate = 200;
  constexpr std::uint64_t kLongPasses = std::uint64_t{1} << 18;
  // Nine bytes of memory for each record.
  constexpr std::uint64_t kMostRows = std::uint64_t{1} << 24;
  if (facts.kind != LinearKind::linear || options.typical_norm || facts.rows > kMostRows)
    return std::nullopt;
  const double signal = signal_of(facts.rows, facts.relation, facts.contributions, budget);
  if (signal < kFewestPerCoordinate * static_cast<double>(facts.without_hats()))
    return std::nullopt;
  if (facts.rows >= kLongPasses &&
      signal >= kManyPerCoordinate * static_cast<double>(facts.dimension))
    return std::nullopt;
  constexpr double kFarther = 2, kFartherWithHats = 4;
  GradientScale scale{.farther = kFarther};
  for (const EncodedColumn& column : facts.columns) {
    if (column.hats == 0) continue;
    scale.farther = kFartherWithHats;
    scale.bends.push_back({.first = column.first + column.width, .count = column.hats});
  }
  return scale;
}

// Of fewer different rows than 2 to this a share might leave most out, however many records there
// are.
constexpr double kVariedBits = 40;

RoutePtr gradient_route(const PublicFacts& facts, const Budget& budget,
                        const RouteOptions& options) {
  refuse_pure("gradient", facts, budget);
  if (options.batch > 0 && options.typical_norm) {
    throw Unsupported("`individual_budget` is for all rows at once in the method gradient",
                      "leave out `batch`, or train a network");
  }
  if (options.batch > 0) return minibatch_route(facts, budget, options);
  if (options.radius != 0) {
    throw InvalidArgument("`radius` means nothing to the method gradient without `batch`",
                          "leave it out, or give `batch` as well");
  }
  return in_budget(budget, facts.relation, [&](const Budget& b) {
    return route_of(
        NoisyGradientPlan({.loss = loss_of(facts.kind),
                           .outputs = facts.outputs,
                           .iterations = options.iterations,
                           .noise_travel = noise_travel(facts, budget),
                           .regularisation = options.regularisation,
                           .paces = paces_of(facts),
                           .varied = facts.row_bits() >= kVariedBits,
                           .average = options.average.value_or(true),
                           .scale = scale_of(facts, budget, options),
                           .contributions = facts.contributions,
                           .typical_norm = options.typical_norm,
                           .over_budget = options.over_budget.value_or(OverBudget::shorten),
                           .threads = options.threads},
                          facts.relation, facts.rows, facts.dimension, rho_of(b)));
  });
}

RoutePtr no_privacy(const PublicFacts& facts, const Budget&, const RouteOptions& options) {
  NonPrivateOptions plain{
      .loss = loss_of(facts.kind), .outputs = facts.outputs, .threads = options.threads};
  if (options.regularisation > 0) plain.regularisation = options.regularisation;
  plain.spreads = options.spreads;
  return std::make_unique<NonPrivateRoute>(std::move(plain));
}

RoutePtr objective_route(const PublicFacts& facts, const Budget& budget,
                         const RouteOptions& options) {
  refuse_users("objective", facts);
  return route_of(ObjectivePerturbationPlan({.loss = loss_of(facts.kind),
                                             .outputs = facts.outputs,
                                             .regularisation = options.regularisation,
                                             .threads = options.threads},
                                            facts.relation, facts.rows, facts.dimension, budget));
}

RoutePtr output_route(const PublicFacts& facts, const Budget& budget, const RouteOptions& options) {
  refuse_users("output", facts);
  return route_of(OutputPerturbationPlan({.loss = loss_of(facts.kind),
                                          .outputs = facts.outputs,
                                          .regularisation = options.regularisation,
                                          .threads = options.threads},
                                         facts.relation, facts.rows, facts.dimension, budget));
}

RoutePtr functional_route(const PublicFacts& facts, const Budget& budget,
                          const RouteOptions& options) {
  return in_budget(budget, facts.relation, [&](const Budget& b) {
    return route_of(FunctionalPlan({.loss = loss_of(facts.kind),
                                    .outputs = facts.outputs,
                                    .active = facts.active(),
                                    .contributions = facts.contributions,
                                    .regularisation = options.regularisation,
                                    .threads = options.threads},
                                   facts.relation, facts.rows, facts.dimension, b));
  });
}

RoutePtr sufficient_statistics_route(const PublicFacts& facts, const Budget& budget,
                                     const RouteOptions& options) {
  refuse_pure("sufficient_statistics", facts, budget);
  if (facts.kind != LinearKind::linear) {
    throw Unsupported("sufficient_statistics fits the squared loss only",
                      "use `method` functional or gradient, or `model` linear");
  }
  return in_budget(budget, facts.relation, [&](const Budget& b) {
    return route_of(SufficientStatisticsPlan(facts.relation, facts.dimension, rho_of(b),
                                             facts.contributions, options.threads));
  });
}

RoutePtr exponential_route(const PublicFacts& facts, const Budget& budget,
                           const RouteOptions& options) {
  return route_of(ExponentialRoutePlan({.loss = loss_of(facts.kind),
                                        .outputs = facts.outputs,
                                        .candidates = options.candidates,
                                        .radius = options.radius,
                                        .contributions = facts.contributions,
                                        .threads = options.threads},
                                       facts.relation, facts.dimension, budget));
}

RoutePtr sample_aggregate_route(const PublicFacts& facts, const Budget& budget,
                                const RouteOptions& options) {
  return in_budget(budget, facts.relation, [&](const Budget& b) {
    return route_of(SampleAggregatePlan({.loss = loss_of(facts.kind),
                                         .outputs = facts.outputs,
                                         .aggregate = options.aggregate.value_or(Aggregate::mean),
                                         .parts = options.parts,
                                         .radius = options.radius,
                                         .regularisation = options.regularisation,
                                         .contributions = facts.contributions,
                                         .threads = options.threads},
                                        facts.relation, facts.rows, facts.dimension, b));
  });
}

RoutePtr input_route(const PublicFacts& facts, const Budget& budget, const RouteOptions& options) {
  return in_budget(budget, facts.relation, [&](const Budget& b) {
    return route_of(InputPerturbationPlan({.bins = options.bins,
                                           .regularisation = options.regularisation,
                                           .threads = options.threads},
                                          facts, b));
  });
}

// A method and how its route is planned. This array is the list of them: a new route is one line.
struct LinearMethod {
  Method declared;
  RoutePtr (*make)(const PublicFacts&, const Budget&, const RouteOptions&);
};

const std::vector<LinearMethod>& routes() {
  static const std::vector<LinearMethod> list = {
      {{"gradient",
        "noisy gradient descent",
        {"iterations", "batch", "iterate", "radius", "regularisation", "individual_budget",
         "typical_norm", "over_budget"}},
       gradient_route},
      {{"objective", "a noisy linear term in the objective", {"regularisation"}}, objective_route},
      {{"output", "noise on the minimiser", {"regularisation"}}, output_route},
      {{"functional", "noise on the coefficients of the objective", {"regularisation"}},
       functional_route},
      {{"sufficient_statistics", "noisy moments with an adaptive ridge"},
       sufficient_statistics_route},
      {{"exponential", "a choice among public candidates", {"candidates", "radius"}},
       exponential_route},
      {{"sample_aggregate",
        "a private average of fits on parts of the data",
        {"parts", "aggregate", "radius", "regularisation"}},
       sample_aggregate_route},
      {{"input", "an ordinary fit of synthetic records", {"bins", "regularisation"}}, input_route},
      {{"none", "an ordinary fit, NOT PRIVATE", {"regularisation"}}, no_privacy}};
  return list;
}

}  // namespace

const std::vector<Method>& linear_methods() {
  static const std::vector<Method> list = [] {
    std::vector<Method> methods = {{"auto", "chosen by public facts"}};
    for (const LinearMethod& route : routes()) methods.push_back(route.declared);
    return methods;
  }();
  return list;
}

RoutePtr make_route(std::string_view method, const PublicFacts& facts,
                    const std::optional<Budget>& budget, const RouteOptions& options) {
  if (method != "none" && !budget) {
    throw InvalidArgument("training needs a budget",
                          "give `epsilon`, `epsilon` with `delta`, or `rho`");
  }
  for (const LinearMethod& route : routes()) {
    if (route.declared.name == method)
      return route.make(facts, budget.value_or(Budget::pure(1)), options);
  }
  throw InvalidArgument(fmt::format("unknown method '{}'", method));
}

}  // namespace sotto
