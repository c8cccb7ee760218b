// sotto evaluate: how good a model is on a file, as it is (NOT PRIVATE) or with a budget.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "decision.hpp"
#include "evaluation.hpp"
#include "families.hpp"
#include "fit_evaluation.hpp"
#include "metric.hpp"
#include "paid/charge.hpp"
#include "sotto/core/error.hpp"
#include "sotto/learning/artifact.hpp"
#include "training.hpp"

namespace sotto::cli {
namespace {

// The facts about a table that its schema holds; --groups COLUMN among them, which the reader is
// told through `options`. Returns which of the table's group columns it is.
std::optional<std::size_t> add_groups(const Arguments& arguments, const Encoder& encoder,
                                      TableOptions& options, Subject& subject) {
  if (!arguments.given("groups")) return std::nullopt;
  const std::string column = arguments.text("groups");
  const auto& declared = encoder.groups();
  const auto found = std::find_if(declared.begin(), declared.end(), [&](const ColumnEncoder& c) {
    return c.column().name == column;
  });
  if (found == declared.end()) options.extra_groups = {column};
  subject.groups = encoder.group(column).labels();
  return static_cast<std::size_t>(found - declared.begin());
}

// One figure and nothing else, for scripts.
void run_metric(const Arguments& arguments, Context& context, const Subject& subject) {
  if (has_budget(arguments))
    throw InvalidArgument("--metric is of an evaluation without a budget",
                          "the figures of one budget come together: leave --metric out");
  const std::string metric = metric_named(arguments.text("metric"), subject.labels.size());
  const std::vector<ScoredRow> rows = subject.score();
  if (rows.empty()) throw DataError("there are no rows to evaluate on");
  const double value = measured(metric, subject.labels.size(), rows);
  if (arguments.flag("json")) {
    context.out.print("{}\n", nlohmann::ordered_json{{"schema", 1},
                                                     {"metric", metric},
                                                     {"value", value},
                                                     {"rows", rows.size()},
                                                     {"warning", "NOT PRIVATE"}}
                                  .dump());
  } else {
    context.out.print("{:.6g}\n", value);
    context.note("NOT PRIVATE: computed from the rows as they are");
  }
}

void run_evaluate(const Arguments& arguments, Context& context) {
  const Artifact artifact = read_artifact(arguments.text("model"), families());
  const Model& model = *artifact.model;
  if (!is_supervised(model.task())) return run_fit_evaluation(arguments, context, artifact);
  Subject subject;
  subject.labels = model.columns().front().labels;
  subject.relation = artifact.facts.relation;
  subject.contributions = artifact.facts.contributions;
  subject.unit = name(artifact.facts.unit);
  subject.files = artifact.certificate.files;
  const Encoder* encoder = artifact.facts.encoder.get();
  TableOptions options;
  std::optional<std::size_t> group;
  if (encoder != nullptr) {
    options = table_options(arguments, encoder->schema());
    group = add_groups(arguments, *encoder, options, subject);
    subject.target = encoder->target().column().bounds;
  } else if (arguments.given("groups")) {
    throw InvalidArgument("--groups needs a table; images have no columns");
  }
  const std::optional<double> threshold = threshold_of(arguments, model);
  subject.score = [&] {
    std::vector<ScoredRow> rows;
    applied_source(arguments, artifact.facts, options)->each([&](const Block& block) {
      for (ScoredRow& row : model.score(block, group)) rows.push_back(std::move(row));
    });
    if (threshold) decide(rows, *threshold);
    return rows;
  };
  std::optional<Artifact> other;
  if (arguments.given("baseline")) {
    if (subject.groups.empty() || has_budget(arguments) || subject.labels.empty())
      throw InvalidArgument("--baseline is for --groups of classes, on rows without a budget",
                            "it shows what privacy cost each group");
    other = read_artifact(arguments.text("baseline"), families());
    if (other->model->columns().front().labels != subject.labels || !other->facts.encoder)
      throw InvalidArgument("--baseline is a model of other classes");
    subject.baseline = [&] {
      const Encoder& own = *other->facts.encoder;
      TableOptions reading = table_options(arguments, own.schema());
      Subject ignored;
      const auto column = add_groups(arguments, own, reading, ignored);
      std::vector<ScoredRow> rows;
      applied_source(arguments, other->facts, reading)->each([&](const Block& block) {
        for (ScoredRow& row : other->model->score(block, column)) rows.push_back(std::move(row));
      });
      return rows;
    };
  }
  if (arguments.given("metric")) return run_metric(arguments, context, subject);
  run_evaluation(arguments, context, subject);
}

}  // namespace

Command evaluate_command() {
  std::vector<Option> options = model_data_options();
  options.push_back({.name = "groups",
                     .type = Type::text,
                     .value = "COLUMN",
                     .help =
                         "also by groups of this categorical column: rates of each and the gaps "
                         "between them",
                     .group = "Data"});
  options.push_back({.name = "baseline",
                     .type = Type::file,
                     .value = "DIR",
                     .help = "a model without privacy: --groups then shows what privacy cost each",
                     .group = "Data"});
  options.push_back(threshold_option());
  options.push_back(metric_option("this figure and nothing else, without a budget"));
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
          "training cost on its own. For classes it prints what lies behind the accuracy: the "
          "baseline of always saying the commonest class, precision, recall and F1, the confusion "
          "matrix and, without a budget, how far probabilities are from what happens. For clusters "
          "it prints the inertia (in the unit of the columns where they share one, else in encoded "
          "coordinates), for other coordinates the share of the variance that they keep.",
      .examples = {{"R2 and errors, or accuracy, AUC and log-loss",
                    "sotto evaluate --model model --data people.csv"},
                   {"One figure, for a script",
                    "sotto evaluate --model model --data people.csv --metric rmse"},
                   {"By group, as JSON",
                    "sotto evaluate --model model --data people.csv --groups city --json"},
                   {"On private rows, with a certificate",
                    "sotto evaluate --model model --data people.csv --epsilon 1 --certificate "
                    "evaluation.json"}},
      .options = std::move(options),
      .run = run_evaluate,
      .usage = "--model DIR --data FILE [--epsilon E [--delta D]] [options]",
      .artifact = "model"};
}

}  // namespace sotto::cli
