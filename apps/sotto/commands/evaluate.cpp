// sotto evaluate: how good a model is on a file. sotto predict: its predictions.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "../output_file.hpp"
#include "model_options.hpp"
#include "sotto/core/error.hpp"
#include "sotto/models/artifact.hpp"
#include "sotto/models/evaluation.hpp"

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
          {"log_loss", c.log_loss}};
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

// A field of a CSV file, quoted where it must be.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

TableOptions options_of(const Arguments& arguments, const Schema& schema) {
  TableOptions options = table_options(arguments);
  options.csv.names = arguments.flag("no-header") ? schema.names() : std::vector<std::string>{};
  return options;
}

// Evaluation reads whatever number of rows the file has: the declared number is that of the training data.
Encoder for_other_data(const Encoder& trained) {
  Schema schema = trained.schema();
  schema.rows.reset();
  return Encoder(std::move(schema));
}

void run_evaluate(const Arguments& arguments, Context& context) {
  const Artifact artifact = read_artifact(arguments.text("model"));
  const Encoder encoder = for_other_data(artifact.encoder);
  TableOptions options = options_of(arguments, encoder.schema());
  std::optional<std::size_t> group;
  std::vector<std::string> labels;
  if (arguments.given("groups")) {
    const std::string column = arguments.text("groups");
    labels = encoder.group(column).labels();
    const auto& declared = encoder.groups();
    const auto at = std::find_if(declared.begin(), declared.end(),
                                 [&](const ColumnEncoder& c) { return c.column().name == column; });
    group = static_cast<std::size_t>(at - declared.begin());
    if (at == declared.end()) options.extra_groups = {column};
  }
  const Table table = load_table(arguments.text("data"), encoder, options);
  const Evaluation result = evaluate(artifact.model, table, group, labels);
  if (arguments.flag("json")) {
    Json json = {{"schema", 1}, {"private", false}};
    json.update(to_json(result.is_classification, result.classification, result.regression));
    if (group) {
      json["groups"] = Json::array();
      for (const GroupQuality& g : result.groups) {
        Json line = {{"group", g.group}};
        line.update(to_json(result.is_classification, g.classification, g.regression));
        if (result.is_classification) {
          line["accuracy_lower"] = g.classification.accuracy_95.lower;
          line["accuracy_upper"] = g.classification.accuracy_95.upper;
        }
        json["groups"].push_back(std::move(line));
      }
    }
    context.out.print("{}\n", json.dump());
  } else {
    context.out.print("{}\n",
                      to_text(result.is_classification, result.classification, result.regression));
    for (const GroupQuality& g : result.groups) {
      context.out.print("  {:<24} {}\n", g.group,
                        to_text(result.is_classification, g.classification, g.regression));
    }
  }
  context.note(kNotPrivate);
}

void run_predict(const Arguments& arguments, Context& context) {
  const Artifact artifact = read_artifact(arguments.text("model"));
  const Encoder encoder = for_other_data(artifact.encoder);
  TableOptions options = options_of(arguments, encoder.schema());
  options.targets = false;
  const bool classification = artifact.model.loss != Loss::squared;
  const ColumnEncoder& target = encoder.target();
  OutputFile file(arguments.text("out"));
  std::string text = classification ? "prediction,probability\n" : "prediction\n";
  std::vector<double> wide;
  std::vector<float> record;
  std::uint64_t rows = 0;
  for_each_block(
      arguments.text("data"), encoder, 4096,
      [&](const Table& block) {
        wide.resize(block.width());
        record.resize(block.width());
        for (std::size_t i = 0; i < block.rows(); ++i) {
          block.row(i, wide);
          for (std::size_t j = 0; j < wide.size(); ++j) record[j] = static_cast<float>(wide[j]);
          if (classification) {
            const std::size_t c = artifact.model.classify(record);
            text += fmt::format("{},{:.6f}\n", csv_field(target.labels()[c]),
                                artifact.model.probabilities(record)[c]);
          } else {
            text += fmt::format("{:.9g}\n", target.unscaled(artifact.model.regress(record)));
          }
        }
        rows += block.rows();
        file.write(text);
        text.clear();
      },
      options);
  file.write(text);
  file.publish();
  if (arguments.flag("json")) {
    context.out.print("{}\n",
                      Json{{"schema", 1}, {"rows", rows}, {"out", arguments.text("out")}}.dump());
  } else {
    context.out.print("wrote {} predictions to {}\n", rows, arguments.text("out"));
  }
}

std::vector<Option> model_data_options() {
  return {{.name = "model",
           .type = Type::file,
           .value = "DIR",
           .help = "the directory that sotto train wrote",
           .required = true,
           .group = "Data"},
          {.name = "data",
           .type = Type::file,
           .value = "FILE",
           .help = "CSV file, plain or gzip",
           .required = true,
           .group = "Data"},
          {.name = "no-header",
           .type = Type::flag,
           .help = "the first row is data; columns come in the order of the schema",
           .group = "Data"}};
}

}  // namespace

Command evaluate_command() {
  std::vector<Option> options = model_data_options();
  options.push_back({.name = "groups",
                     .type = Type::text,
                     .value = "COLUMN",
                     .help = "also one line for each group of this categorical column"});
  options.push_back(json_option());
  options.push_back(output_option());
  return {
      .name = "evaluate",
      .summary = "measure a model on a file (not private)",
      .description =
          "The figures are computed from the rows as they are. They are NOT PRIVATE: use public "
          "test data, or keep them to yourself.",
      .examples = {{"R2 and errors, or accuracy, AUC and log-loss",
                    "sotto evaluate --model model --data people.csv"},
                   {"By group, as JSON",
                    "sotto evaluate --model model --data people.csv --groups city --json"}},
      .options = std::move(options),
      .run = run_evaluate,
      .usage = "--model DIR --data FILE [options]"};
}

Command predict_command() {
  std::vector<Option> options = model_data_options();
  options.push_back({.name = "out",
                     .type = Type::file,
                     .value = "FILE",
                     .help = "CSV file for the predictions",
                     .required = true});
  options.push_back(json_option());
  return {.name = "predict",
          .summary = "apply a model to a file",
          .examples = {{"One prediction a row",
                        "sotto predict --model model --data people.csv --out predictions.csv"}},
          .options = std::move(options),
          .run = run_predict,
          .usage = "--model DIR --data FILE --out FILE [options]"};
}

}  // namespace sotto::cli
