// sotto train: from a CSV file, a schema and a budget to a private linear model.
#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "../certify.hpp"
#include "../charge.hpp"
#include "../cost.hpp"
#include "../fingerprinting.hpp"
#include "../signing.hpp"
#include "deep_options.hpp"
#include "model_options.hpp"
#include "route_options.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/event_json.hpp"
#include "sotto/core/rounded_text.hpp"
#include "sotto/models/artifact.hpp"
#include "sotto/models/linear/training.hpp"

namespace sotto::cli {
namespace {

using Json = nlohmann::ordered_json;

Certificate certificate(const LinearTraining& training, const std::optional<Event>& event,
                        const Encoder& encoder, const Arguments& arguments, const Rng& rng,
                        const Payment& payment) {
  Certificate c = uncertified(rng);
  if (event) {
    const double delta = arguments.maybe_number("delta").value_or(0);
    c = certify(*event, training.relation(), delta, rng);
    c.assumptions = training.assumptions();
  }
  c.unit = name(encoder.schema().unit);
  c.method = name(training.method());
  c.description = training.describe();
  c.dataset = arguments.given("dataset") ? arguments.text("dataset") : "";
  c.ledger = payment.reference();
  return c;
}

Json summary(const LinearTraining& training, const Arguments& arguments, const Cost& cost) {
  Json json = {{"schema", 1}, {"epsilon", nullptr}, {"delta", nullptr}};
  if (cost.epsilon) json["epsilon"] = *cost.epsilon;
  if (cost.delta) json["delta"] = *cost.delta;
  json["method"] = name(training.method());
  json["model"] = arguments.text("model");
  json["relation"] = name(training.relation());
  return json;
}

// The promise in one line; what a model without one has to say.
std::string promise(const LinearTraining& training, const Encoder& encoder, const Cost& cost) {
  if (!training.event()) return "NOT PRIVATE: no noise, no guarantee";
  return fmt::format("epsilon = {}, delta = {} ({}, unit: one {})",
                     cost.epsilon ? round_up(*cost.epsilon) : "-",
                     cost.delta ? round_up(*cost.delta) : "-", name(training.relation()),
                     name(encoder.schema().unit));
}

TrainingRequest request_of(const Arguments& arguments) {
  TrainingRequest request{.kind = parse_linear_kind(arguments.text("model")),
                          .method = parse_method(arguments.text("method"))};
  if (request.method != Method::none) request.budget = budget_of(arguments);
  if (request.method == Method::none && (arguments.given("epsilon") || arguments.given("rho"))) {
    throw InvalidArgument("--method none has no privacy, yet a budget is given",
                          "leave out the budget, or choose another method");
  }
  if (arguments.given("rho") && !arguments.given("delta")) {
    throw InvalidArgument(
        "sotto train needs --delta with --rho, to state the certificate's epsilon",
        "e.g. --delta 1e-6");
  }
  request.options = route_options_of(arguments);
  return request;
}

// Options of networks: what would be ignored is refused.
void refuse_network_options(const Arguments& arguments) {
  for (const Option& option : network_options())
    if (arguments.given(option.name))
      throw InvalidArgument(fmt::format("--{} is for networks, not for the model {}", option.name,
                                        arguments.text("model")),
                            "choose --model softmax, mlp or cnn");
}

void run(const Arguments& arguments, Context& context) {
  const auto start = std::chrono::steady_clock::now();
  const bool dry = arguments.flag("dry-run");
  if (!dry) {
    if (!arguments.given("out")) {
      throw InvalidArgument("sotto train needs --out DIR, the place of the model",
                            "or --dry-run to see the cost only");
    }
    check_artifact_place(arguments.text("out"));
  }
  refuse_network_options(arguments);
  const TrainingRequest request = request_of(arguments);
  const Encoder encoder(
      with_basis(schema_of(arguments), request.kind, request.method, request.budget));
  const LinearTraining training(encoder, request);
  check_delta(arguments, *encoder.schema().rows, "declared rows", context);
  const Cost cost =
      training.event() ? cost_of(*training.event(), training.relation(), arguments) : Cost{};

  Payment payment(arguments,
                  training.event() ? std::optional(Spec{training.relation(), {*training.event()}})
                                   : std::nullopt,
                  std::string(name(encoder.schema().unit)));
  Json json = summary(training, arguments, cost);
  if (!training.event()) json["warning"] = "NOT PRIVATE";
  if (dry) {
    json["dry_run"] = true;
    payment.quote(context, json);
    if (training.event()) json["event"] = to_json(*training.event());
    if (arguments.flag("json")) {
      context.out.print("{}\n", json.dump());
    } else {
      context.out.print(
          "not run, no data read\n  would cost {}\n  method     {} ({})\n  plan       {}\n",
          promise(training, encoder, cost), name(training.method()), training.reason(),
          training.describe());
    }
    return;
  }

  std::optional<Rng> seeded = insecure_rng(arguments, context);
  Rng& rng = seeded ? *seeded : context.rng();
  const std::string key = read_signing_key(arguments.given("sign") ? arguments.text("sign") : "");
  const std::string fingerprint_key = read_fingerprint_key(arguments);
  payment.reserve(context);
  Progress progress(context.progress("training", 0));
  const LinearTraining::Fit fit = payment.guard([&] {
    return training.run(arguments.text("data"), table_options(arguments), rng, &progress);
  });
  progress.finish();
  const std::string fingerprint = fingerprint_of_data(arguments, fingerprint_key);
  payment.commit(context);
  Certificate c = certificate(training, fit.event, encoder, arguments, rng, payment);
  c.fingerprint = fingerprint;
  write_artifact(arguments.text("out"), fit.model, encoder, c);
  sign_artifact(arguments.text("out"), key);

  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (arguments.flag("json")) {
    json["seconds"] = seconds;
    json["out"] = arguments.text("out");
    if (seeded) json["warning"] = kInsecure;
    payment.add_to(json);
    context.out.print("{}\n", json.dump());
    return;
  }
  context.out.print(
      "{} model in {}\n  guarantee  {}\n  method     {} ({})\n  plan       {}\n  time       {:.2f} "
      "s\n",
      arguments.text("model"), context.bold(arguments.text("out")),
      promise(training, encoder, cost), name(training.method()), training.reason(),
      training.describe(), seconds);
  if (seeded) context.out.print("  {}\n", kInsecure);
  context.note("next: sotto evaluate --model " + arguments.text("out") + " --data TEST.csv");
}

}  // namespace

Command train_command() {
  std::vector<Option> options = training_data_options();
  options.push_back(
      {.name = "model",
       .type = Type::choice,
       .value = "KIND",
       .help = "what to fit: linear models of a class (logistic, svm) or a number (linear), or a "
               "network",
       .fallback = "logistic",
       .choices = {"logistic", "svm", "linear", "softmax", "mlp", "cnn"}});
  options.push_back({.name = "method",
                     .type = Type::choice,
                     .value = "M",
                     .help = "the route to privacy; auto chooses by public facts",
                     .fallback = "auto",
                     .choices = method_names()});
  options.push_back({.name = "out",
                     .type = Type::file,
                     .value = "DIR",
                     .help = "directory for model, encoder and certificate"});
  for (Option& option : route_options()) options.push_back(std::move(option));
  options.push_back({.name = "dataset",
                     .type = Type::text,
                     .value = "LABEL",
                     .help =
                         "a name for the data, quoted in the certificate; with a ledger the data "
                         "set whose budget is charged"});
  options.push_back(sign_option());
  options.push_back(fingerprint_option());
  for (Option& option : payment_options(false)) options.push_back(std::move(option));
  for (Option& option : budget_options()) options.push_back(std::move(option));
  options.push_back(dry_run_option());
  for (Option& option : network_options()) options.push_back(std::move(option));
  options.push_back(insecure_seed_option());
  options.push_back(json_option());
  options.push_back(output_option());
  return {.name = "train",
          .summary = "fit a private model",
          .description =
              "Reads the data through the schema: bounds, categories and the number of rows are "
              "declared there and never read from the data. Writes a "
              "directory with the model, its encoder and a certificate that quotes every event.",
          .examples = {{"Income by age and city, with epsilon 1",
                        "sotto train --data people.csv --schema people.toml --model linear "
                        "--epsilon 1 --delta 1e-5 --out model"},
                       {"A class instead of a number, with a pure epsilon",
                        "sotto train --data people.csv --schema people.toml --model logistic "
                        "--target city --epsilon 2 --out cities"},
                       {"What would it cost?",
                        "sotto train --data people.csv --schema people.toml --model linear "
                        "--epsilon 1 --delta 1e-5 --dry-run"},
                       {"A small network instead",
                        "sotto train --data people.csv --schema people.toml --model mlp "
                        "--epsilon 3 --delta 1e-5 --epochs 5 --out network"}},
          .options = std::move(options),
          .run = run,
          .usage =
              "--data FILE [--schema FILE] (--epsilon E [--delta D] | --rho R --delta D) --out DIR "
              "[options]"};
}

}  // namespace sotto::cli
