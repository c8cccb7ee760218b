// sotto evaluate: how good a model is on a file, as it is (NOT PRIVATE) or with a budget.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "../certify.hpp"
#include "../charge.hpp"
#include "../cost.hpp"
#include "model_options.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/event_json.hpp"
#include "sotto/core/rounded_text.hpp"
#include "sotto/models/artifact.hpp"
#include "sotto/models/private_evaluation.hpp"

namespace sotto::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kNotPrivate =
    "NOT PRIVATE: computed from the rows as they are; publish it only if the evaluation data is "
    "public";

Json to_json(bool classification, const ClassificationQuality& c, const RegressionQuality& r) {
  if (!classification) return {{"rows", r.rows}, {"r2", r.r2}, {"rmse", r.rmse}, {"mae", r.mae}};
  return {{"rows", c.rows},
          {"accuracy", c.accuracy},
          {"auc", c.auc ? Json(*c.auc) : Json(nullptr)},
          {"log_loss", c.log_loss},
          {"accuracy_lower", c.accuracy_95.lower},
          {"accuracy_upper", c.accuracy_95.upper}};
}

std::string to_text(bool classification, const ClassificationQuality& c,
                    const RegressionQuality& r) {
  if (!classification)
    return fmt::format("R2 {:.4f}, RMSE {:.4g}, MAE {:.4g} on {} rows", r.r2, r.rmse, r.mae,
                       r.rows);
  return fmt::format("accuracy {:.4f} (95 %: {:.4f} to {:.4f}){}, log-loss {:.4f} on {} rows",
                     c.accuracy, c.accuracy_95.lower, c.accuracy_95.upper,
                     c.auc ? fmt::format(", AUC {:.4f}", *c.auc) : "", c.log_loss, c.rows);
}

// The figures in the order in which they are told; absent ones drowned in the noise.
struct Figure {
  const char *name, *title;
  std::optional<PrivateMetric> PrivateQuality::*value;
};
std::vector<Figure> figures(bool classification) {
  if (classification)
    return {{"accuracy", "accuracy", &PrivateQuality::accuracy},
            {"auc", "AUC", &PrivateQuality::auc},
            {"log_loss", "log-loss", &PrivateQuality::log_loss}};
  return {{"r2", "R2", &PrivateQuality::r2},
          {"rmse", "RMSE", &PrivateQuality::rmse},
          {"mae", "MAE", &PrivateQuality::mae}};
}

Json to_json(bool classification, const PrivateQuality& q) {
  Json json = {{"rows", q.rows}};
  const std::vector<Figure> all = figures(classification);
  for (const Figure& f : all) {
    const auto& m = q.*f.value;
    json[f.name] = m ? Json(m->value) : Json(nullptr);
  }
  for (const Figure& f : all) {
    const auto& m = q.*f.value;
    if (!m) continue;
    json[std::string(f.name) + "_lower"] = m->interval_95.lower;
    json[std::string(f.name) + "_upper"] = m->interval_95.upper;
  }
  if (classification) json["confusion"] = q.confusion;
  return json;
}

std::string to_text(bool classification, const PrivateQuality& q) {
  std::string text;
  for (const Figure& f : figures(classification)) {
    const auto& m = q.*f.value;
    if (!text.empty()) text += ", ";
    text += m ? fmt::format("{} {:.4g} (95 %: {:.4g} to {:.4g})", f.title, m->value,
                            m->interval_95.lower, m->interval_95.upper)
              : fmt::format("{} drowned in the noise", f.title);
  }
  return text + fmt::format(", about {:.0f} rows", q.rows);
}

// --groups COLUMN: its labels, and where the table keeps it.
struct Groups {
  std::optional<std::size_t> at;
  std::vector<std::string> labels;
};

Groups groups_of(const Arguments& arguments, const Encoder& encoder, TableOptions& options) {
  if (!arguments.given("groups")) return {};
  const std::string column = arguments.text("groups");
  const auto& declared = encoder.groups();
  const auto found = std::find_if(declared.begin(), declared.end(), [&](const ColumnEncoder& c) {
    return c.column().name == column;
  });
  if (found == declared.end()) options.extra_groups = {column};
  return {static_cast<std::size_t>(found - declared.begin()), encoder.group(column).labels()};
}

void run_plain(const Arguments& arguments, Context& context, const Artifact& artifact,
               const Encoder& encoder) {
  TableOptions options = table_options(arguments, encoder.schema());
  const Groups groups = groups_of(arguments, encoder, options);
  const Table table = load_table(arguments.text("data"), encoder, options);
  const Evaluation result = evaluate(artifact.model, table, groups.at, groups.labels);
  const bool classes = result.is_classification;
  if (arguments.flag("json")) {
    Json json = {{"schema", 1}, {"private", false}, {"warning", "NOT PRIVATE"}};
    json.update(to_json(classes, result.classification, result.regression));
    if (groups.at) json["groups"] = Json::array();
    for (const GroupQuality& g : result.groups) {
      Json line = {{"group", g.group}};
      line.update(to_json(classes, g.classification, g.regression));
      json["groups"].push_back(std::move(line));
    }
    context.out.print("{}\n", json.dump());
  } else {
    context.out.print("{}\n", to_text(classes, result.classification, result.regression));
    for (const GroupQuality& g : result.groups)
      context.out.print("  {:<24} {}\n", g.group, to_text(classes, g.classification, g.regression));
    context.out.print("{}\n", kNotPrivate);
  }
}

PrivateEvaluationPlan plan_of(const Arguments& arguments, const Encoder& encoder,
                              const Groups& groups) {
  const Schema& schema = encoder.schema();
  const ColumnEncoder& target = encoder.target();
  if (arguments.given("rho") && !arguments.given("delta"))
    throw InvalidArgument("sotto evaluate needs --delta with --rho, to state epsilon",
                          "e.g. --delta 1e-6");
  return PrivateEvaluationPlan(
      {.relation = schema.relation,
       .contributions = schema.unit == Unit::user ? schema.max_contributions : 1,
       .classes = target.is_numeric() ? 0 : target.labels().size(),
       .target = target.column().bounds,
       .groups = groups.at ? groups.labels.size() : 1},
      budget_of(arguments));
}

void run_private(const Arguments& arguments, Context& context, const Artifact& artifact,
                 const Encoder& encoder) {
  TableOptions options = table_options(arguments, encoder.schema());
  const Groups groups = groups_of(arguments, encoder, options);
  const PrivateEvaluationPlan plan = plan_of(arguments, encoder, groups);
  const Cost cost = cost_of(plan.event(), plan.relation(), arguments);
  const bool classes = !encoder.target().is_numeric();
  const std::string unit(name(encoder.schema().unit));
  const std::string promise =
      fmt::format("epsilon = {}, delta = {} ({}, unit: one {})", round_up(*cost.epsilon),
                  round_up(*cost.delta), name(plan.relation()), unit);
  Json json = {{"schema", 1},
               {"private", true},
               {"epsilon", *cost.epsilon},
               {"delta", *cost.delta},
               {"relation", name(plan.relation())},
               {"unit", unit}};
  Payment payment(arguments, Spec{plan.relation(), {plan.event()}}, unit);
  if (arguments.flag("dry-run")) {
    json["dry_run"] = true;
    payment.quote(context, json);
    json["event"] = to_json(plan.event());
    if (arguments.flag("json")) {
      context.out.print("{}\n", json.dump());
    } else {
      context.out.print("not run, no data read\n  would cost {}\n  plan       {}\n", promise,
                        plan.describe());
    }
    return;
  }
  std::optional<Rng> seeded = insecure_rng(arguments, context);
  Rng& rng = seeded ? *seeded : context.rng();
  payment.reserve(context);
  const Table table =
      payment.guard([&] { return load_table(arguments.text("data"), encoder, options); });
  if (count_is_public(plan.relation()) && encoder.schema().unit == Unit::record)
    check_delta(arguments, table.rows(), "rows", context);
  const auto release = plan.run(score_rows(artifact.model, table, groups.at), rng);
  payment.commit(context);
  Certificate certificate = certify(release.event, plan.relation(), *cost.delta, rng);
  certificate.ledger = payment.reference();
  certificate.unit = unit;
  certificate.method = "evaluation";
  certificate.description = plan.describe();
  certificate.assumptions = {
      "the model, its schema and the labels of classes and groups are public"};
  certificate.files = {{"model.json", artifact.certificate.files.at("model.json")}};
  if (arguments.given("certificate")) write_certificate(arguments.text("certificate"), certificate);

  const PrivateEvaluation& result = release.value;
  // One label: the group is everything.
  const auto of_group = [&](std::size_t g) -> const PrivateQuality& {
    return result.groups.empty() ? result.all : result.groups[g];
  };
  if (arguments.flag("json")) {
    json.update(to_json(classes, result.all));
    if (classes) json["labels"] = encoder.target().labels();
    if (groups.at) json["groups"] = Json::array();
    for (std::size_t g = 0; g < groups.labels.size(); ++g) {
      Json line = {{"group", groups.labels[g]}};
      line.update(to_json(classes, of_group(g)));
      json["groups"].push_back(std::move(line));
    }
    json["certificate"] = to_json(certificate);
    payment.add_to(json);
    if (seeded) json["warning"] = kInsecure;
    context.out.print("{}\n", json.dump());
    return;
  }
  context.out.print("{}\n", to_text(classes, result.all));
  for (std::size_t g = 0; g < groups.labels.size(); ++g)
    context.out.print("  {:<24} {}\n", groups.labels[g], to_text(classes, of_group(g)));
  context.out.print("  guarantee  {} on the evaluation data\n  plan       {}\n", promise,
                    plan.describe());
  if (seeded) context.out.print("  {}\n", kInsecure);
}

void run(const Arguments& arguments, Context& context) {
  const Artifact artifact = read_artifact(arguments.text("model"));
  const Encoder encoder = for_other_data(artifact.encoder);
  if (has_budget(arguments)) return run_private(arguments, context, artifact, encoder);
  for (const char* option : {"delta", "certificate", "dry-run", "insecure-seed", "ledger",
                             "dsn-file", "dataset", "part", "purpose", "key"}) {
    if (arguments.given(option))
      throw InvalidArgument(fmt::format("--{} needs a budget: --epsilon E", option),
                            "without a budget the evaluation is NOT PRIVATE and draws no noise");
  }
  Payment(arguments, std::nullopt,
          "");  // a ledger that is named has nothing to charge here: refused
  run_plain(arguments, context, artifact, encoder);
}

}  // namespace

Command evaluate_command() {
  std::vector<Option> options = model_data_options();
  options.push_back({.name = "groups",
                     .type = Type::text,
                     .value = "COLUMN",
                     .help = "also one line for each group of this categorical column",
                     .group = "Data"});
  for (Option& option : budget_options()) options.push_back(std::move(option));
  for (Option& option : payment_options()) options.push_back(std::move(option));
  options.push_back(dry_run_option());
  options.push_back(certificate_option());
  options.push_back(insecure_seed_option());
  options.push_back(json_option());
  options.push_back(output_option());
  return {
      .name = "evaluate",
      .summary = "measure a model on a file, with or without privacy for its rows",
      .description =
          "Without a budget the figures are computed from the rows as they are and are NOT "
          "PRIVATE: "
          "use public test data, or keep them to yourself. With a budget they are noised, come "
          "with "
          "intervals that include the noise, and cost epsilon on the evaluation data, beside what "
          "training cost on its own.",
      .examples = {{"R2 and errors, or accuracy, AUC and log-loss",
                    "sotto evaluate --model model --data people.csv"},
                   {"By group, as JSON",
                    "sotto evaluate --model model --data people.csv --groups city --json"},
                   {"On private rows, with a certificate",
                    "sotto evaluate --model model --data people.csv --epsilon 1 --certificate "
                    "evaluation.json"}},
      .options = std::move(options),
      .run = run,
      .usage = "--model DIR --data FILE [--epsilon E [--delta D]] [options]"};
}

}  // namespace sotto::cli
