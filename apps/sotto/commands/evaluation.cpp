#include "evaluation.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "group_text.hpp"
#include "paid/cost.hpp"
#include "paid/ritual.hpp"
#include "sotto/core/certified_directory.hpp"
#include "sotto/core/digest.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/event_json.hpp"
#include "sotto/core/rounded_text.hpp"
#include "sotto/core/text.hpp"
#include "sotto/learning/certify.hpp"
#include "sotto/learning/class_measures.hpp"
#include "sotto/learning/group_runs.hpp"
#include "sotto/learning/private_evaluation.hpp"

namespace sotto::cli {
namespace {

using Json = nlohmann::ordered_json;

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
  if ((classification ? c.rows : r.rows) == 0) return "no rows";
  if (!classification)
    return fmt::format("R2 {:.4f}, RMSE {:.4g}, MAE {:.4g} on {} rows", r.r2, r.rmse, r.mae,
                       r.rows);
  return fmt::format("accuracy {:.4f} (95 %: {:.4f} to {:.4f}){}, log-loss {:.4f} on {} rows",
                     c.accuracy, c.accuracy_95.lower, c.accuracy_95.upper,
                     c.auc ? fmt::format(", AUC {:.4f}", *c.auc) : "", c.log_loss, c.rows);
}

// What lies behind the accuracy; `calibration` where the rows themselves are at hand.
void add_measures(Json& json, const ClassMeasures& m, const std::vector<std::string>& labels,
                  std::optional<double> calibration) {
  json["majority_class"] = labels[m.majority_class];
  json["majority_accuracy"] = m.majority;
  json["balanced_accuracy"] = m.balanced_accuracy;
  json["macro_f1"] = m.macro_f1;
  if (calibration) json["calibration_error"] = *calibration;
  const auto maybe = [](const std::optional<double>& v) { return v ? Json(*v) : Json(nullptr); };
  json["classes"] = Json::array();
  for (std::size_t c = 0; c < labels.size(); ++c) {
    const ClassFigures& f = m.classes[c];
    json["classes"].push_back({{"label", labels[c]},
                               {"rows", f.rows},
                               {"predicted", f.predicted},
                               {"precision", maybe(f.precision)},
                               {"recall", maybe(f.recall)},
                               {"f1", f.f1}});
  }
}

constexpr std::size_t kShownClasses = 12;  // a larger table is for JSON

std::string measures_text(const ClassMeasures& m, const Confusion& confusion,
                          const std::vector<std::string>& labels,
                          std::optional<double> calibration) {
  std::string text = fmt::format(
      "  baseline   accuracy {:.4f} by always saying '{}'\n  balanced   accuracy {:.4f}, F1 {:.4f} "
      "(means over classes){}\n",
      m.majority, visible(labels[m.majority_class]), m.balanced_accuracy, m.macro_f1,
      calibration ? fmt::format("; calibration error {:.4f}", *calibration) : "");
  if (labels.size() > kShownClasses) return text;
  std::size_t width = 5;
  for (const std::string& label : labels) width = std::max(width, visible(label).size());
  const auto figure = [](const std::optional<double>& v) {
    return v ? fmt::format("{:.4f}", *v) : std::string("-");
  };
  text += fmt::format("  {:<{}}  {:>9}  {:>9}  {:>9}  predicted:", "class", width, "precision",
                      "recall", "F1");
  for (const std::string& label : labels) text += fmt::format("  {:>9}", visible(label));
  for (std::size_t c = 0; c < labels.size(); ++c) {
    const ClassFigures& f = m.classes[c];
    text += fmt::format("\n  {:<{}}  {:>9}  {:>9}  {:>9.4f}            ", visible(labels[c]), width,
                        figure(f.precision), figure(f.recall), f.f1);
    for (std::size_t p = 0; p < labels.size(); ++p)
      text += fmt::format("{:>{}.0f}", confusion[c][p],
                          p == 0 ? std::max<std::size_t>(9, visible(labels[p]).size())
                                 : 2 + std::max<std::size_t>(9, visible(labels[p]).size()));
  }
  return text + "\n";
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
    if (f.value == &PrivateQuality::auc && q.confusion.size() > 2) continue;  // of two classes
    const auto& m = q.*f.value;
    if (!text.empty()) text += ", ";
    text += m ? fmt::format("{} {:.4g} (95 %: {:.4g} to {:.4g})", f.title, m->value,
                            m->interval_95.lower, m->interval_95.upper)
              : fmt::format("{} drowned in the noise", f.title);
  }
  return text + fmt::format(", about {:.0f} rows", q.rows);
}

GroupReport report_of(const Subject& subject, const std::vector<ScoredRow>& rows) {
  if (!subject.baseline)
    return group_report(group_counts(rows, subject.labels.size(), subject.groups));
  GroupRuns runs(subject.labels.size(), subject.groups);
  runs.set_baseline(subject.baseline());
  runs.add(rows);
  return runs.report();
}

void run_plain(const Arguments& arguments, Context& context, const Subject& subject) {
  const std::vector<ScoredRow> rows = subject.score();
  const Evaluation result = evaluate(subject.classification(), rows, subject.groups);
  const bool classes = result.is_classification;
  if ((classes ? result.classification.rows : result.regression.rows) == 0)
    throw DataError("there are no rows to evaluate the model on", "give a file with rows");
  const Confusion confusion = confusion_of(rows, subject.labels.size());
  const ClassMeasures measures = class_measures(confusion);
  const bool grouped = classes && !subject.groups.empty();
  const GroupReport report = grouped ? report_of(subject, rows) : GroupReport{};
  if (arguments.flag("json")) {
    Json json = {{"schema", 1}, {"private", false}, {"warning", "NOT PRIVATE"}};
    json.update(to_json(classes, result.classification, result.regression));
    if (classes) {
      add_measures(json, measures, subject.labels, calibration_error(rows));
      json["labels"] = subject.labels;
      json["confusion"] = confusion;
    }
    if (!subject.groups.empty()) json["groups"] = Json::array();
    for (std::size_t g = 0; g < result.groups.size(); ++g) {
      const GroupQuality& group = result.groups[g];
      Json line = {{"group", group.group}};
      line.update(to_json(classes, group.classification, group.regression));
      if (classes) {
        add_measures(line, class_measures(confusion_of(rows, subject.labels.size(), g)),
                     subject.labels, calibration_error(rows, g));
        add_figures(line, report.groups[g], subject.labels);
      }
      json["groups"].push_back(std::move(line));
    }
    if (grouped) json["gaps"] = gaps_json(report, subject.labels);
    context.out.print("{}\n", json.dump());
  } else {
    context.out.print("{}\n", to_text(classes, result.classification, result.regression));
    if (classes)
      context.out.print(
          "{}", Lines{measures_text(measures, confusion, subject.labels, calibration_error(rows))});
    for (const GroupQuality& g : result.groups)
      context.out.print("  {:<24} {}\n", g.group, to_text(classes, g.classification, g.regression));
    if (grouped) context.out.print("{}", Lines{group_table(report, subject.labels)});
    context.out.print("{}\n", kNotPrivate);
  }
}

PrivateEvaluationPlan plan_of(const Arguments& arguments, const Subject& subject) {
  if (arguments.given("rho") && !arguments.given("delta"))
    throw InvalidArgument("sotto evaluate needs --delta with --rho, to state epsilon",
                          "e.g. --delta 1e-6");
  return PrivateEvaluationPlan({.relation = subject.relation,
                                .contributions = subject.contributions,
                                .classes = subject.labels.size(),
                                .target = subject.target,
                                .groups = subject.groups.empty() ? 1 : subject.groups.size()},
                               budget_of(arguments));
}

Certificate certificate_of(const PrivateEvaluationPlan& plan, const Event& event,
                           const Subject& subject, double delta, const Rng& rng) {
  Certificate c = certify(event, plan.relation(), delta, rng);
  c.unit = subject.unit;
  c.method = "evaluation";
  c.description = plan.describe();
  c.assumptions = {"the model, its schema and the labels of classes and groups are public"};
  c.files = subject.files;
  return c;
}

void show_result(const Arguments& arguments, Context& context, const Subject& subject,
                 const PrivateEvaluation& result, const std::string& promise,
                 const std::string& plan, Json&& json) {
  const bool classes = subject.classification();
  // One label: the group is everything.
  const auto of_group = [&](std::size_t g) -> const PrivateQuality& {
    return result.groups.empty() ? result.all : result.groups[g];
  };
  if (arguments.flag("json")) {
    context.out.print("{}\n", json.dump());
    return;
  }
  context.out.print("{}\n", to_text(classes, result.all));
  if (classes)
    context.out.print("{}", Lines{measures_text(class_measures(result.all.confusion),
                                                result.all.confusion, subject.labels, {})});
  for (std::size_t g = 0; g < subject.groups.size(); ++g)
    context.out.print("  {:<24} {}\n", subject.groups[g], to_text(classes, of_group(g)));
  if (classes && !subject.groups.empty())
    context.out.print("{}", Lines{group_table(group_report(group_counts(result, subject.groups)),
                                              subject.labels)});
  context.out.print("  guarantee  {} on the evaluation data\n  plan       {}\n", promise, plan);
  if (arguments.given("insecure-seed")) context.out.print("  {}\n", kInsecure);
}

void add_result(Json& json, const Subject& subject, const PrivateEvaluation& result) {
  const bool classes = subject.classification();
  json.update(to_json(classes, result.all));
  if (classes) {
    add_measures(json, class_measures(result.all.confusion), subject.labels, {});
    json["labels"] = subject.labels;
  }
  if (subject.groups.empty()) return;
  json["groups"] = Json::array();
  const GroupReport report =
      classes ? group_report(group_counts(result, subject.groups)) : GroupReport{};
  for (std::size_t g = 0; g < subject.groups.size(); ++g) {
    Json line = {{"group", subject.groups[g]}};
    line.update(to_json(classes, result.groups.empty() ? result.all : result.groups[g]));
    if (classes) add_figures(line, report.groups[g], subject.labels);
    json["groups"].push_back(std::move(line));
  }
  if (classes) json["gaps"] = gaps_json(report, subject.labels);
}

void run_private(const Arguments& arguments, Context& context, const Subject& subject) {
  const PrivateEvaluationPlan plan = plan_of(arguments, subject);
  const Cost cost = cost_of(plan.event(), plan.relation(), arguments);
  const std::string promise =
      fmt::format("epsilon = {}, delta = {} ({}, unit: one {})", round_up(*cost.epsilon),
                  round_up(*cost.delta), name(plan.relation()), subject.unit);
  PaidWork<Release<PrivateEvaluation>> work;
  work.spec = Spec{plan.relation(), {plan.event()}};
  work.unit = subject.unit;
  work.what = fmt::format("evaluation of {}", arguments.text("model"));
  work.json = {{"schema", 1},
               {"private", true},
               {"epsilon", *cost.epsilon},
               {"delta", *cost.delta},
               {"relation", name(plan.relation())},
               {"unit", subject.unit}};
  work.show = [&](const Json& quoted) {
    Json json = quoted;
    json["event"] = to_json(plan.event());
    if (arguments.flag("json")) {
      context.out.print("{}\n", json.dump());
    } else {
      context.out.print("not run, no data read\n  would cost {}\n  plan       {}\n", promise,
                        plan.describe());
    }
  };
  work.run = [&](Rng& rng) {
    const std::vector<ScoredRow> rows = subject.score();
    if (count_is_public(plan.relation()) && subject.unit == name(Unit::record))
      check_delta(arguments, rows.size(), "rows", context);
    return plan.run(rows, rng);
  };
  std::string value;  // the digest of what is released
  work.settle = [&](Release<PrivateEvaluation>& release) {
    Json answer = Json::object();
    add_result(answer, subject, release.value);
    value = sha256(answer.dump());
    std::map<std::string, std::string> parts = subject.files;
    parts["value"] = value;
    return result_digest(parts);
  };
  work.publish = [&](Release<PrivateEvaluation>&& release, Json&& json, Rng& rng,
                     const Payment* payment) {
    Certificate certificate = certificate_of(plan, release.event, subject, *cost.delta, rng);
    certificate.ledger = payment->reference();
    certificate.fingerprint = payment->fingerprint();
    certificate.files["value"] = value;
    if (arguments.given("certificate"))
      write_certificate(arguments.text("certificate"), certificate);
    add_result(json, subject, release.value);
    json["certificate"] = to_json(certificate);
    payment->add_to(json);
    if (arguments.given("insecure-seed")) json["warning"] = kInsecure;
    show_result(arguments, context, subject, release.value, promise, plan.describe(),
                std::move(json));
  };
  perform(arguments, context, std::move(work));
}

}  // namespace

void check_unpaid(const Arguments& arguments) {
  for (const char* option :
       {"delta", "certificate", "dry-run", "insecure-seed", "ledger", "dsn-file", "dataset", "part",
        "purpose", "by", "key", "fingerprint-key"}) {
    if (arguments.given(option))
      throw InvalidArgument(fmt::format("--{} needs a budget: --epsilon E", option),
                            "without a budget the evaluation is NOT PRIVATE and draws no noise");
  }
  Payment(arguments, std::nullopt, "",
          "");  // a ledger that is named has nothing to charge here: refused
}

void run_evaluation(const Arguments& arguments, Context& context, const Subject& subject) {
  if (has_budget(arguments)) return run_private(arguments, context, subject);
  check_unpaid(arguments);
  run_plain(arguments, context, subject);
}

}  // namespace sotto::cli
