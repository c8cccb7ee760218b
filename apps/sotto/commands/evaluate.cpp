// sotto evaluate: how good a model is on a file, as it is (NOT PRIVATE) or with a budget.
#include <algorithm>

#include "../certify.hpp"
#include "../charge.hpp"
#include "evaluation.hpp"
#include "sotto/models/artifact.hpp"

namespace sotto::cli {
namespace {

void run(const Arguments& arguments, Context& context) {
  const Artifact artifact = read_artifact(arguments.text("model"));
  const Encoder encoder = for_other_data(artifact.encoder);
  TableOptions options = table_options(arguments, encoder.schema());
  std::optional<std::size_t> groups;
  Subject subject = table_subject(arguments, encoder, options, groups);
  subject.file = "model.json";
  subject.digest = artifact.certificate.files.at("model.json");
  subject.score = [&] {
    const Table table = load_table(arguments.text("data"), encoder, options);
    return score_rows(artifact.model, table, groups);
  };
  run_evaluation(arguments, context, subject);
}

}  // namespace

Subject table_subject(const Arguments& arguments, const Encoder& encoder, TableOptions& options,
                      std::optional<std::size_t>& group_column) {
  const Schema& schema = encoder.schema();
  const ColumnEncoder& target = encoder.target();
  Subject subject;
  if (!target.is_numeric()) subject.labels = target.labels();
  subject.target = target.column().bounds;
  subject.relation = schema.relation;
  subject.contributions = schema.unit == Unit::user ? schema.max_contributions : 1;
  subject.unit = name(schema.unit);
  if (!arguments.given("groups")) return subject;
  const std::string column = arguments.text("groups");
  const auto& declared = encoder.groups();
  const auto found = std::find_if(declared.begin(), declared.end(), [&](const ColumnEncoder& c) {
    return c.column().name == column;
  });
  if (found == declared.end()) options.extra_groups = {column};
  group_column = static_cast<std::size_t>(found - declared.begin());
  subject.groups = encoder.group(column).labels();
  return subject;
}

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
