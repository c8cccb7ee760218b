#include "fit_evaluation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "evaluation.hpp"
#include "paid/cost.hpp"
#include "paid/ritual.hpp"
#include "sotto/core/certified_directory.hpp"
#include "sotto/core/digest.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/event_json.hpp"
#include "sotto/core/rounded_text.hpp"
#include "sotto/learning/certify.hpp"
#include "sotto/learning/fit_evaluation.hpp"
#include "sotto/learning/pipeline.hpp"
#include "training.hpp"

namespace sotto::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string to_text(const Json& figures) {
  std::string text;
  for (const auto& figure : figures.items()) {
    if (!text.empty()) text += ", ";
    std::string label = figure.key();
    std::replace(label.begin(), label.end(), '_', ' ');
    text += figure.value().is_null()
                ? fmt::format("{} drowned in the noise", label)
                : fmt::format("{} {:.6g}", label, figure.value().get<double>());
  }
  return text;
}

// The records as the measured model sees them: the last of these.
std::vector<std::unique_ptr<Source>> rows_of(const Arguments& arguments, const Artifact& artifact) {
  TableOptions options = table_options(arguments, artifact.facts.encoder->schema());
  options.targets = false;
  return measured_sources(*artifact.model, applied_source(arguments, artifact.facts, options));
}

void run_plain_fit(const Arguments& arguments, Context& context, const Artifact& artifact,
                   const UnsupervisedModel& model) {
  const Json figures = fit_figures(model, *rows_of(arguments, artifact).back());
  if (figures.at("rows") == 0)
    throw DataError("there are no rows to evaluate the model on", "give a file with rows");
  if (arguments.flag("json")) {
    Json json = {{"schema", 1}, {"private", false}, {"warning", "NOT PRIVATE"}};
    json.update(figures);
    context.out.print("{}\n", json.dump());
  } else {
    context.out.print("{}\n{}\n", to_text(figures), kNotPrivate);
  }
}

void run_private_fit(const Arguments& arguments, Context& context, const Artifact& artifact,
                     const UnsupervisedModel& model) {
  const Facts& facts = artifact.facts;
  if (arguments.given("rho") && !arguments.given("delta"))
    throw InvalidArgument("sotto evaluate needs --delta with --rho, to state epsilon",
                          "e.g. --delta 1e-6");
  const FitEvaluationPlan plan(model, facts.relation, facts.contributions, budget_of(arguments));
  const Cost cost = cost_of(plan.event(), plan.relation(), arguments);
  const std::string guarantee = promise(plan.event(), facts, cost);
  PaidWork<Release<Json>> work;
  work.spec = Spec{plan.relation(), {plan.event()}};
  work.unit = name(facts.unit);
  work.what = fmt::format("evaluation of {}", arguments.text("model"));
  work.json = {{"schema", 1},
               {"private", true},
               {"epsilon", *cost.epsilon},
               {"delta", *cost.delta},
               {"relation", name(plan.relation())},
               {"unit", name(facts.unit)}};
  work.show = [&](const Json& quoted) {
    Json json = quoted;
    json["event"] = to_json(plan.event());
    if (arguments.flag("json")) {
      context.out.print("{}\n", json.dump());
    } else {
      context.out.print("not run, no data read\n  would cost {}\n  plan       {}\n", guarantee,
                        plan.describe());
    }
  };
  work.run = [&](Rng& rng) { return plan.run(*rows_of(arguments, artifact).back(), rng); };
  std::string value;  // the digest of what is released
  work.settle = [&](Release<Json>& release) {
    value = sha256(release.value.dump());
    std::map<std::string, std::string> parts = artifact.certificate.files;
    parts["value"] = value;
    return result_digest(parts);
  };
  work.publish = [&](Release<Json>&& release, Json&& json, Rng& rng, const Payment* payment) {
    Certificate c = certify(release.event, plan.relation(), *cost.delta, rng);
    c.unit = name(facts.unit);
    c.method = "evaluation";
    c.description = plan.describe();
    c.assumptions = {"the model and its schema are public"};
    c.files = artifact.certificate.files;
    c.files["value"] = value;
    c.ledger = payment->reference();
    c.fingerprint = payment->fingerprint();
    if (arguments.given("certificate")) write_certificate(arguments.text("certificate"), c);
    json.update(release.value);
    json["certificate"] = to_json(c);
    payment->add_to(json);
    const bool insecure = arguments.given("insecure-seed");
    if (insecure) json["warning"] = kInsecure;
    if (arguments.flag("json")) {
      context.out.print("{}\n", json.dump());
      return;
    }
    context.out.print("{}\n  guarantee  {} on the evaluation data\n  plan       {}\n",
                      to_text(release.value), guarantee, plan.describe());
    if (insecure) context.out.print("  {}\n", kInsecure);
  };
  perform(arguments, context, std::move(work));
}

}  // namespace

void run_fit_evaluation(const Arguments& arguments, Context& context, const Artifact& artifact) {
  const UnsupervisedModel* model = measured_model(*artifact.model);
  if (model == nullptr)
    throw Unsupported(fmt::format("a model that is to {} has nothing to be measured by",
                                  name(artifact.model->task())));
  for (const char* option : {"groups", "threshold"})
    if (arguments.given(option))
      throw InvalidArgument(
          fmt::format("--{} is about predictions, which this model does not make", option),
          "leave it out");
  if (has_budget(arguments)) return run_private_fit(arguments, context, artifact, *model);
  check_unpaid(arguments);
  run_plain_fit(arguments, context, artifact, *model);
}

}  // namespace sotto::cli
