// sotto predict: a model's predictions, one a row.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "families.hpp"
#include "shell/output_file.hpp"
#include "sotto/data/csv_field.hpp"
#include "sotto/learning/artifact.hpp"
#include "training.hpp"

namespace sotto::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string field(const OutputColumn& column, double value) {
  if (!column.labels.empty()) return csv_field(column.labels.at(static_cast<std::size_t>(value)));
  return column.is_probability ? fmt::format("{:.6f}", value) : fmt::format("{:.9g}", value);
}

void run_predict(const Arguments& arguments, Context& context) {
  const Artifact artifact = read_artifact(arguments.text("model"), families());
  TableOptions options;
  if (artifact.facts.encoder) options = table_options(arguments, artifact.facts.encoder->schema());
  options.targets = false;
  const std::vector<OutputColumn> columns = artifact.model->columns();
  OutputFile file(arguments.text("out"));
  std::string text;
  for (const OutputColumn& column : columns)
    text += (text.empty() ? "" : ",") + csv_field(column.name);
  text += '\n';
  std::uint64_t rows = 0;
  applied_source(arguments, artifact.facts, options)->each([&](const Block& block) {
    const std::vector<double> values = artifact.model->apply(block);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t c = i % columns.size();
      text += field(columns[c], values[i]);
      text += c + 1 < columns.size() ? ',' : '\n';
    }
    rows += block.rows();
    file.write(text);
    text.clear();
  });
  file.write(text);
  file.publish();
  if (arguments.flag("json")) {
    context.out.print("{}\n",
                      Json{{"schema", 1}, {"rows", rows}, {"out", arguments.text("out")}}.dump());
  } else {
    context.out.print("wrote {} predictions to {}\n", rows, arguments.text("out"));
  }
}

}  // namespace

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
          .usage = "--model DIR --data FILE --out FILE [options]",
          .artifact = "model"};
}

}  // namespace sotto::cli
