// sotto transform: other coordinates of the rows of a file, and back.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "families.hpp"
#include "output_rows.hpp"
#include "shell/output_file.hpp"
#include "sotto/core/error.hpp"
#include "sotto/data/csv.hpp"
#include "sotto/data/number.hpp"
#include "sotto/learning/artifact.hpp"
#include "sotto/learning/unsupervised_model.hpp"
#include "training.hpp"

namespace sotto::cli {
namespace {

using Json = nlohmann::ordered_json;

// Writes to --out, which appears whole or not at all, or to standard output.
class Written {
 public:
  Written(const Arguments& arguments, Context& context) : arguments_(arguments), context_(context) {
    if (arguments.given("out")) file_.emplace(arguments.text("out"));
  }
  void operator()(const std::string& text) {
    file_ ? file_->write(text) : context_.out.print("{}", Lines{text});
  }
  void publish(std::uint64_t rows) {
    if (!file_) return;
    file_->publish();
    if (arguments_.flag("json")) {
      context_.out.print(
          "{}\n", Json{{"schema", 1}, {"rows", rows}, {"out", arguments_.text("out")}}.dump());
    } else {
      context_.out.print("wrote {} rows to {}\n", rows, arguments_.text("out"));
    }
  }

 private:
  const Arguments& arguments_;
  Context& context_;
  std::optional<OutputFile> file_;
};

void forward(const Arguments& arguments, const Artifact& artifact, Written& write) {
  TableOptions options = table_options(arguments, artifact.facts.encoder->schema());
  options.targets = false;
  if (arguments.given("id")) options.id = arguments.text("id");
  const OutputRows lines(artifact.model->columns(), options.id, false);
  write(lines.header());
  std::uint64_t rows = 0;
  applied_source(arguments, artifact.facts, options)->each([&](const Block& block) {
    const std::vector<double> values = artifact.model->apply(block);
    std::string text;
    for (std::size_t i = 0; i < block.rows(); ++i)
      text += lines.line(std::span(values).subspan(i * lines.width(), lines.width()),
                         options.id.empty() ? "" : block.table().ids()[i]);
    rows += block.rows();
    write(text);
  });
  write.publish(rows);
}

void backward(const Arguments& arguments, const TransformModel& model, Written& write) {
  const std::vector<OutputColumn> written = model.columns();
  const Encoder& encoder = model.encoder();
  CsvReader reader(arguments.text("data"), csv_options(arguments));
  std::vector<std::size_t> fields;
  for (const OutputColumn& column : written) fields.push_back(reader.column(column.name));
  std::optional<std::size_t> id;
  if (arguments.given("id")) id = reader.column(arguments.text("id"));
  const OutputRows lines(feature_columns(encoder), id ? arguments.text("id") : "", false);
  write(lines.header());
  std::uint64_t rows = 0;
  std::vector<double> values(written.size());
  reader.for_each_row([&](std::span<const std::string_view> cells, std::uint64_t row) {
    for (std::size_t c = 0; c < values.size(); ++c) {
      std::string scratch;
      const std::string_view cell = cells[fields[c]];
      const NumberCell number =
          parse_number(reader.decimal_comma() ? with_point(cell, scratch) : cell);
      if (number.kind != CellKind::number)
        throw DataError(fmt::format("{}, column '{}', row {}: not a number", arguments.text("data"),
                                    written[c].name, row));
      values[c] = number.value;
    }
    write(lines.line(decoded(encoder, model.inverse(values)), id ? std::string(cells[*id]) : ""));
    ++rows;
  });
  write.publish(rows);
}

void run_transform(const Arguments& arguments, Context& context) {
  const Artifact artifact = read_artifact(arguments.text("model"), families());
  if (arguments.given("out") && arguments.given("output"))
    throw InvalidArgument("--out and --output are both given", "choose one place");
  if (arguments.flag("json") && !arguments.given("out"))
    throw InvalidArgument("--json is about --out FILE");
  if (is_supervised(artifact.model->task()) || !artifact.facts.encoder)
    throw Unsupported(fmt::format("a model that is to {} gives no other coordinates",
                                  name(artifact.model->task())),
                      "use sotto predict");
  const auto* transform = dynamic_cast<const TransformModel*>(artifact.model.get());
  if (arguments.flag("inverse") && (transform == nullptr || !transform->invertible()))
    throw Unsupported("what this model writes cannot be taken back", "leave out --inverse");
  Written write(arguments, context);
  if (arguments.flag("inverse")) {
    backward(arguments, *transform, write);
  } else {
    forward(arguments, artifact, write);
  }
}

}  // namespace

Command transform_command() {
  std::vector<Option> options = model_data_options();
  options.push_back({.name = "id",
                     .type = Type::text,
                     .value = "COLUMN",
                     .help = "a column of the data to write beside the coordinates",
                     .group = "Data"});
  options.push_back({.name = "inverse",
                     .type = Type::flag,
                     .help = "from coordinates that were written back to columns"});
  options.push_back(output_option());
  options.push_back({.name = "out",
                     .type = Type::file,
                     .value = "FILE",
                     .help = "like --output, and say how many there are"});
  options.push_back({.name = "json",
                     .type = Type::flag,
                     .help = "with --out: say it as JSON (stable, \"schema\": 1)"});
  return {
      .name = "transform",
      .summary = "write the rows of a file in the coordinates of a model, or take them back",
      .description =
          "Writes one line for each row: coordinates along principal components, scaled or "
          "binned columns, or the nearest cluster and the distance to it. With --inverse a "
          "file of such coordinates becomes one with the columns that the model was trained "
          "on, as near as the coordinates tell. Both are post-processing of the model and "
          "cost nothing; what they say about the rows is as private as the rows.",
      .examples = {{"Two coordinates a row",
                    "sotto train --data people.csv --schema people.toml --model pca "
                    "--epsilon 1 --delta 1e-5 --out directions && sotto transform --model "
                    "directions --data people.csv --out plane.csv"},
                   {"And back", "sotto transform --model directions --data plane.csv --inverse"}},
      .options = std::move(options),
      .run = run_transform,
      .usage = "--model DIR --data FILE [--inverse] [--out FILE] [options]",
      .artifact = "model"};
}

}  // namespace sotto::cli
