// sotto predict: a model's predictions, one a row.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "../output_file.hpp"
#include "model_options.hpp"
#include "sotto/models/artifact.hpp"

namespace sotto::cli {
namespace {

using Json = nlohmann::ordered_json;

// A field of a CSV file, quoted where it must be.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

void run_predict(const Arguments& arguments, Context& context) {
  const Artifact artifact = read_artifact(arguments.text("model"));
  const Encoder encoder = for_other_data(artifact.encoder);
  TableOptions options = table_options(arguments, encoder.schema());
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
          .usage = "--model DIR --data FILE --out FILE [options]"};
}

}  // namespace sotto::cli
