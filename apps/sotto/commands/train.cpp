// sotto train: from data, declared facts and a budget to a certified model.
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "class_weight_options.hpp"
#include "paid/cost.hpp"
#include "paid/ritual.hpp"
#include "paid/signing.hpp"
#include "resuming.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/event_json.hpp"
#include "sotto/core/rounded_text.hpp"
#include "sotto/core/whole_file.hpp"
#include "sotto/learning/artifact.hpp"
#include "sotto/learning/certify.hpp"
#include "sotto/learning/pipeline.hpp"
#include "training.hpp"

namespace sotto::cli {
namespace {

using Json = nlohmann::ordered_json;

void check_delta_of_rho(const Arguments& arguments) {
  if (arguments.given("rho") && !arguments.given("delta"))
    throw InvalidArgument(
        "sotto train needs --delta with --rho, to state the certificate's epsilon",
        "e.g. --delta 1e-6");
}

// Everything that is settled before data is read.
struct Decided {
  Suggestion choice;
  Facts facts;
  std::unique_ptr<TrainingPlan> plan;
  bool finds_categories = false;
};

constexpr const char* kPipeline = "pipeline";
constexpr std::size_t kMostPipelineBytes = std::size_t{1} << 20;

Decided decided_pipeline(const Arguments& arguments) {
  for (const char* option : {"model", "class-weight", "class-shares"})
    if (arguments.given(option))
      throw InvalidArgument(fmt::format("--{} and --pipeline are both given", option),
                            "the steps of the pipeline say what is trained");
  const std::string place = arguments.text(kPipeline);
  std::optional<Budget> budget;
  if (has_budget(arguments)) budget = budget_of(arguments);
  PlannedPipeline planned =
      plan_pipeline(families(), read_pipeline(read_whole_file(place, kMostPipelineBytes), place),
                    schema_of(arguments), budget, arguments.maybe_number("delta"));
  // Found before a budget is asked: the second reading would find nothing.
  const std::string data = arguments.given("data") ? arguments.text("data") : "";
  std::error_code unknown;
  const bool flows = data == "-" || (std::filesystem::exists(data, unknown) &&
                                     !std::filesystem::is_regular_file(data, unknown));
  if (planned.finds_categories && flows)
    throw InvalidArgument("the step categories reads the data twice, and --data is no file",
                          "write what comes from elsewhere to a file first");
  return {{find_family(families(), kPipeline), kPipeline, ""},
          std::move(planned.facts),
          std::move(planned.plan),
          planned.finds_categories};
}

Decided decided(const Arguments& arguments) {
  check_delta_of_rho(arguments);
  if (arguments.given(kPipeline)) return decided_pipeline(arguments);
  Suggestion choice = chosen_model(arguments);
  const TrainingRequest request = request_of(arguments, choice);
  Facts facts = facts_of(arguments, *choice.family, request);
  std::unique_ptr<TrainingPlan> plan = plan_weighted(arguments, *choice.family, facts, request);
  return {std::move(choice), std::move(facts), std::move(plan)};
}

Json training_summary(const Suggestion& choice, const TrainingPlan& plan, const Cost& cost) {
  const Explanation explanation = plan.explain();
  Json json = {{"schema", 1}, {"epsilon", nullptr}, {"delta", nullptr}};
  if (cost.epsilon) json["epsilon"] = *cost.epsilon;
  if (cost.delta) json["delta"] = *cost.delta;
  json["method"] = explanation.method;
  json["model"] = choice.kind;
  if (!choice.reason.empty()) json["chosen_for"] = choice.reason;
  json["relation"] = name(plan.relation());
  json.update(explanation.figures);
  if (!plan.event()) json["warning"] = "NOT PRIVATE";
  return json;
}

// The lines that a quote and a result have in common.
std::string lines(const Suggestion& choice, const TrainingPlan& plan) {
  const Explanation e = plan.explain();
  return (choice.reason.empty()
              ? ""
              : fmt::format("  model      {} ({})\n", choice.kind, choice.reason)) +
         (e.reason.empty() ? "" : fmt::format("  method     {} ({})\n", e.method, e.reason)) +
         fmt::format("  plan       {}\n", e.words);
}

void check_places_of_training(const Arguments& arguments) {
  if (!arguments.given("out")) {
    throw InvalidArgument("sotto train needs --out DIR, the place of the model",
                          "or --dry-run to see the cost only");
  }
  check_artifact_place(arguments.text("out"));
}

// Weights, those of a state that training goes on from, and what an optimiser keeps beside them.
void check_room_for(const TrainingPlan& plan, const Arguments& arguments) {
  constexpr std::size_t kBytesAParameter = 24;
  const std::size_t parameters = plan.explain().figures.value("parameters", std::size_t{0});
  check_artifact_place(arguments.text("out"), kUsualArtifactBytes + kBytesAParameter * parameters);
}

void run_train(const Arguments& arguments, Context& context) {
  const auto start = std::chrono::steady_clock::now();
  if (!arguments.flag("dry-run")) check_places_of_training(arguments);
  Decided settled = decided(arguments);
  const Suggestion& choice = settled.choice;
  Facts& facts = settled.facts;
  const std::unique_ptr<TrainingPlan>& plan = settled.plan;
  const Family& family = *choice.family;
  if (facts.rows) check_delta(arguments, *facts.rows, "declared rows", context);
  const Cost cost = plan->event() ? cost_of(*plan->event(), plan->relation(), arguments) : Cost{};
  const std::string guarantee = promise(plan->event(), facts, cost);
  std::string key;
  Resuming resuming(arguments, context, family.resumable, facts);

  PaidWork<TrainedModel> work;
  if (plan->event()) work.spec = Spec{plan->relation(), {*plan->event()}};
  work.unit = name(facts.unit);
  work.what =
      facts.encoder && facts.encoder->has_target()
          ? fmt::format("{} model of {}", choice.kind, facts.encoder->target().column().name)
          : fmt::format("{} model", choice.kind);
  work.json = training_summary(choice, *plan, cost);
  work.show = [&](const Json& quoted) {
    Json json = quoted;
    const std::string estimate = plan->estimate();
    if (plan->event()) json["event"] = to_json(*plan->event());
    if (!estimate.empty()) json["estimate"] = estimate;
    if (arguments.flag("json")) {
      context.out.print("{}\n", json.dump());
    } else {
      context.out.print("not run, no data read\n  would cost {}\n{}", guarantee,
                        Lines{lines(choice, *plan)});
      if (!estimate.empty()) context.out.print("  estimate   {}\n", estimate);
    }
  };
  work.prepare = [&](Rng& rng, const Payment* payment) {
    check_room_for(*plan, arguments);
    key = read_signing_key(arguments.given("sign") ? arguments.text("sign") : "");
    return resuming.prepare(*plan, rng, *payment);
  };
  work.undo = [&] { resuming.forget(); };
  work.run = [&](Rng& rng) {
    if (settled.finds_categories) {
      CsvReader texts(arguments.text("data"),
                      table_options(arguments, facts.encoder->schema()).csv);
      facts = find_categories(*plan, texts, rng);
    }
    const std::unique_ptr<Source> source = source_of(arguments, facts);
    return plan->run(*source, rng, resuming.control());
  };
  work.settle = [&](TrainedModel& trained) {
    const std::string state = plan->result();
    return result_digest(digests_of(artifact_files(trained, facts))) +
           (state.empty() ? "" : " " + state);
  };
  work.publish = [&](TrainedModel&& trained, Json&& json, Rng& rng, const Payment* payment) {
    const double delta = arguments.maybe_number("delta").value_or(0);
    Certificate c = certify_training(family, facts, *plan, trained, delta, rng);
    c.dataset = arguments.given("dataset") ? arguments.text("dataset") : "";
    c.ledger = payment->reference();
    c.fingerprint = payment->fingerprint();
    write_artifact(arguments.text("out"), trained, facts, c, key);
    resuming.done();

    const bool insecure = arguments.given("insecure-seed");
    if (arguments.flag("json")) {
      json["out"] = arguments.text("out");
      if (c.draft) {
        json["epsilon_with_draft"] = c.draft->epsilon_together;
        json["delta_with_draft"] = c.draft->delta_together;
      }
      if (insecure) json["warning"] = kInsecure;
      payment->add_to(json);
      context.out.print("{}\n", json.dump());
      return;
    }
    const std::string together =
        c.draft ? fmt::format(
                      "  and draft  epsilon = {}, delta = {}: the schema was estimated from "
                      "the data\n",
                      round_up(c.draft->epsilon_together), round_up(c.draft->delta_together))
                : std::string();
    context.out.print("{} model in {}\n  guarantee  {}\n{}{}", choice.kind,
                      context.bold(arguments.text("out")), guarantee, Lines{together},
                      Lines{lines(choice, *plan)});
    if (insecure) context.out.print("  {}\n", kInsecure);
    context.note_time(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    context.note("next: sotto evaluate --model " + arguments.text("out") + " --data " +
                 (facts.images ? "TEST" : "TEST.csv"));
  };
  perform(arguments, context, std::move(work));
}

}  // namespace

Command train_command() {
  std::vector<Option> options = training_data_options();
  options.push_back(kind_option(false));
  options.push_back(
      {.name = kPipeline,
       .type = Type::file,
       .value = "FILE",
       .help = "several steps instead of one model, as TOML: [steps.NAME] with model, "
               "weight (its part of the budget) and options, in their order; a first "
               "step [steps.categories] with columns = \"NAME, NAME\" finds their values"});
  for (Option& option : class_weight_options()) options.push_back(std::move(option));
  options.push_back({.name = "out",
                     .type = Type::file,
                     .value = "DIR",
                     .help = "directory for model, encoder and certificate"});
  for (Option& option : certified_run_options()) options.push_back(std::move(option));
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
          .run = run_train,
          .usage =
              "--data FILE [--schema FILE] (--epsilon E [--delta D] | --rho R --delta D) --out DIR "
              "[options]",
          .selector = "model",
          .variants = kind_variants(false)};
}

}  // namespace sotto::cli
