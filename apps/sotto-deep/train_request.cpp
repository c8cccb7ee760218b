#include "train_request.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/deep/models/defaults.hpp"
#include "sotto/deep/training/memory.hpp"

namespace sotto::cli {
namespace {

// Options of the other half of sotto train: what would be ignored is refused.
void check_options(const Arguments& arguments) {
  for (const char* option :
       {"regularisation", "iterations", "parts", "aggregate", "bins", "candidates"})
    if (arguments.given(option))
      throw InvalidArgument(fmt::format("--{} is for linear models, not for networks", option));
  if (arguments.given("hidden") && arguments.text("model") != "mlp")
    throw InvalidArgument("--hidden is for the model mlp only");
  if (arguments.given("steps") && arguments.given("epochs"))
    throw InvalidArgument("--steps and --epochs are both given", "choose one of them");
}

void check_method(const Arguments& arguments) {
  const std::string method = arguments.text("method");
  if (method != "auto" && method != "gradient" && method != "none")
    throw InvalidArgument(fmt::format("the method {} is for linear models", method),
                          "networks are trained with --method gradient (the default) or none");
  const bool budget = arguments.given("epsilon") || arguments.given("noise-multiplier");
  if (arguments.given("rho"))
    throw Unsupported("networks take a budget as --epsilon with --delta, not as --rho");
  if (method == "none" && budget)
    throw InvalidArgument("--method none has no privacy, yet a budget is given",
                          "leave out the budget, or choose another method");
  if (method != "none" && !arguments.given("delta"))
    throw InvalidArgument("training a network needs --delta: its noise is Gaussian",
                          "e.g. --delta 1e-5");
  if (method != "none" && !budget)
    throw InvalidArgument("training needs a budget",
                          "give --epsilon with --delta, or --noise-multiplier");
}

deep::TrainerOptions trainer_options(const Arguments& arguments,
                                     const deep::OptimizerOptions& fallback) {
  deep::TrainerOptions options;
  options.optimizer = fallback;
  deep::OptimizerOptions& o = options.optimizer;
  o.kind = deep::parse_optimizer(arguments.text("optimizer"));
  if (o.kind != deep::OptimizerKind::sgd) o.learning_rate = 2e-3;
  if (arguments.given("learning-rate")) o.learning_rate = arguments.number("learning-rate");
  if (arguments.given("momentum")) o.momentum = arguments.number("momentum");
  o.weight_decay = arguments.number("weight-decay");
  if (arguments.given("schedule")) o.schedule = deep::parse_schedule(arguments.text("schedule"));
  o.warmup = arguments.number("warmup");
  if (arguments.given("radius")) o.radius = arguments.number("radius");
  if (arguments.given("iterate")) options.iterate = deep::parse_iterate(arguments.text("iterate"));
  options.memory = deep::parse_bytes(arguments.text("memory"));
  if (arguments.given("insecure-seed")) options.insecure_seed = arguments.whole("insecure-seed");
  const std::string rule = arguments.text("clipping");
  if (rule == "per_layer") options.clip_rule = deep::ClipRule::per_layer;
  if (rule == "normalised") options.clip_rule = deep::ClipRule::normalised;
  return options;
}

std::optional<double> maybe(const Arguments& arguments, const char* option) {
  if (!arguments.given(option)) return std::nullopt;
  return arguments.number(option);
}

TrainRequest request_of(const Arguments& arguments, const DeepFacts& facts,
                        std::uint64_t parameters, bool is_private, std::optional<double> epsilon) {
  const deep::TrainingDefaults defaults =
      deep::training_defaults(facts.network.kind, facts.rows,
                              is_private ? std::optional(epsilon.value_or(3)) : std::nullopt);
  TrainRequest request;
  request.trainer = trainer_options(arguments, defaults.optimizer);
  const deep::Sampling sampling = deep::parse_sampling(arguments.text("sampling"));
  double batch = maybe(arguments, "batch").value_or(defaults.batch);
  if (sampling == deep::Sampling::full_batch) batch = static_cast<double>(facts.rows);
  const double epochs = maybe(arguments, "epochs").value_or(defaults.epochs);
  std::uint64_t steps = arguments.given("steps") ? arguments.whole("steps") : 0;
  if (steps == 0)
    steps = static_cast<std::uint64_t>(std::ceil(epochs * static_cast<double>(facts.rows) / batch));
  request.plain = {.sampling = sampling, .records = facts.rows, .batch = batch, .steps = steps};
  if (!is_private) return request;

  deep::PlanOptions options{.records = facts.rows,
                            .relation = facts.relation,
                            .sampling = sampling,
                            .batch = batch,
                            .steps = steps,
                            .clip = maybe(arguments, "clip").value_or(defaults.clip),
                            .noise_multiplier = maybe(arguments, "noise-multiplier"),
                            .epsilon = epsilon,
                            .delta = arguments.number("delta"),
                            .dimension = parameters};
  if (arguments.text("clipping") == "adaptive") options.adaptive.emplace();
  options.noise = arguments.text("noise") != "auto"
                      ? deep::parse_noise_kind(arguments.text("noise"))
                  : options.adaptive ? deep::NoiseKind::bulk
                                     : deep::default_noise(parameters);
  request.plan.emplace(std::move(options));
  return request;
}

}  // namespace

TrainRequest train_request(const Arguments& arguments, const DeepFacts& facts,
                           std::uint64_t parameters) {
  check_options(arguments);
  check_method(arguments);
  return request_of(arguments, facts, parameters, arguments.text("method") != "none",
                    maybe(arguments, "epsilon"));
}

TrainRequest request_at(const Arguments& arguments, const DeepFacts& facts,
                        std::uint64_t parameters, std::optional<double> epsilon) {
  check_options(arguments);
  if (epsilon && !arguments.given("delta"))
    throw InvalidArgument("training a network needs --delta: its noise is Gaussian",
                          "e.g. --delta 1e-5");
  return request_of(arguments, facts, parameters, epsilon.has_value(), epsilon);
}

}  // namespace sotto::cli
