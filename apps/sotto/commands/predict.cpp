// sotto predict: a model's predictions, one a row.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "decision.hpp"
#include "families.hpp"
#include "output_rows.hpp"
#include "shell/output_file.hpp"
#include "sotto/core/error.hpp"
#include "sotto/learning/artifact.hpp"
#include "sotto/learning/pictures.hpp"
#include "training.hpp"

namespace sotto::cli {
namespace {

using Json = nlohmann::ordered_json;

void check_options(const Arguments& arguments, const Artifact& artifact) {
  if (arguments.flag("json") && !arguments.given("out"))
    throw InvalidArgument("--json is about --out FILE",
                          "--format jsonl writes predictions as JSON");
  if (arguments.given("out") && arguments.given("output"))
    throw InvalidArgument("--out and --output are both given", "choose one place");
  if (arguments.given("id") && !artifact.facts.encoder)
    throw InvalidArgument("--id needs a table; images have no columns");
}

void run_predict(const Arguments& arguments, Context& context) {
  const Artifact artifact = read_artifact(arguments.text("model"), families());
  check_options(arguments, artifact);
  const std::optional<double> threshold = threshold_of(arguments, *artifact.model);
  TableOptions options;
  if (artifact.facts.encoder) options = table_options(arguments, artifact.facts.encoder->schema());
  options.targets = false;
  if (arguments.given("id")) options.id = arguments.text("id");
  // Own pictures are told by the names of their files.
  PictureFiles files;
  if (artifact.facts.images && !artifact.facts.encoder)
    files = picture_files(arguments.text("data"));
  const std::vector<std::string> names = files.names;
  const OutputRows lister(artifact.model->columns(), names.empty() ? options.id : "file",
                          arguments.text("format") == "jsonl");
  const std::unique_ptr<Source> source = names.empty()
                                             ? applied_source(arguments, artifact.facts, options)
                                             : pictures(std::move(files), *artifact.facts.images);
  std::optional<OutputFile> file;
  if (arguments.given("out")) file.emplace(arguments.text("out"));
  const auto write = [&](const std::string& text) {
    file ? file->write(text) : context.out.print("{}", Lines{text});
  };
  write(lister.header());
  std::uint64_t rows = 0;
  source->each([&](const Block& block) {
    std::vector<double> values = artifact.model->apply(block);
    std::string text;
    for (std::size_t i = 0; i < block.rows(); ++i) {
      const std::span<double> record =
          std::span(values).subspan(i * lister.width(), lister.width());
      if (threshold) decide(record, *threshold);
      const bool by_column = !options.id.empty();
      text += lister.line(record, !names.empty() ? names[rows + i]
                                  : by_column    ? block.table().ids()[i]
                                                 : "");
    }
    rows += block.rows();
    write(text);
  });
  if (!file) return;
  file->publish();
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
  options.push_back({.name = "id",
                     .type = Type::text,
                     .value = "COLUMN",
                     .help = "a column of the data to write beside the predictions",
                     .group = "Data"});
  options.push_back(threshold_option());
  options.push_back({.name = "format",
                     .type = Type::choice,
                     .value = "F",
                     .help = "CSV with a header, or one JSON object a line",
                     .fallback = "csv",
                     .choices = {"csv", "jsonl"}});
  options.push_back(output_option());
  options.push_back({.name = "out",
                     .type = Type::file,
                     .value = "FILE",
                     .help = "like --output, and say how many there are"});
  options.push_back({.name = "json",
                     .type = Type::flag,
                     .help = "with --out: say it as JSON (stable, \"schema\": 1)"});
  return {
      .name = "predict",
      .summary = "apply a model to a file",
      .description =
          "Writes one line for each row to standard output: the prediction and, for classes, "
          "its probability and that of every class. A file given with -o appears whole or not "
          "at all; on standard output lines before an unreadable row are there already, and "
          "the exit code tells. For a network of images, --data is an IDX file, a picture (PNG, "
          "PGM, PPM) or a folder of them, in the order of their names. Predictions are "
          "post-processing of the model and cost nothing; "
          "what they say about the rows is as private as the rows.",
      .examples = {{"One prediction a row", "sotto predict --model model --data people.csv"},
                   {"Into a file, with a name for each row",
                    "sotto predict --model model --data people.csv --id name -o "
                    "predictions.csv && cat predictions.csv"},
                   {"As JSON lines",
                    "sotto predict --model model --data people.csv --format jsonl"}},
      .options = std::move(options),
      .run = run_predict,
      .usage = "--model DIR --data FILE [-o FILE] [options]",
      .artifact = "model"};
}

}  // namespace sotto::cli
