// sotto evaluate and sotto predict for networks.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "artifact.hpp"
#include "commands/commands.hpp"
#include "commands/evaluation.hpp"
#include "data.hpp"
#include "deep_commands.hpp"
#include "output_file.hpp"
#include "score.hpp"
#include "sotto/core/error.hpp"

namespace sotto::cli {
namespace {

using Json = nlohmann::ordered_json;

// A field of a CSV file, quoted where it must be.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

Subject image_subject(const Arguments& arguments, const DeepArtifact& artifact) {
  if (arguments.given("groups"))
    throw InvalidArgument("--groups needs a table; images have no columns");
  Subject subject;
  for (std::int64_t c = 0; c < artifact.network->options().outputs; ++c)
    subject.labels.push_back(std::to_string(c));
  if (artifact.certificate.spec) subject.relation = artifact.certificate.spec->relation;
  return subject;
}

}  // namespace

void deep_evaluate(const Arguments& arguments, Context& context) {
  DeepArtifact artifact = read_deep_artifact(arguments.text("model"));
  const deep::NetworkOptions& network = artifact.network->options();
  std::optional<Encoder> encoder;
  TableOptions options;
  std::optional<std::size_t> groups;
  Subject subject;
  if (artifact.encoder) {
    encoder.emplace(for_other_data(*artifact.encoder));
    options = table_options(arguments, encoder->schema());
    subject = table_subject(arguments, *encoder, options, groups);
    subject.score = [&] {
      const Table table = load_table(arguments.text("data"), *encoder, options);
      auto rows = score_records(artifact, table_records(table, artifact.classification, true));
      for (std::size_t i = 0; groups && i < rows.size(); ++i)
        rows[i].group = table.groups(*groups)[i];
      return rows;
    };
  } else {
    subject = image_subject(arguments, artifact);
    subject.score = [&] {
      return score_records(artifact, image_records(arguments.text("data"), "t10k", network, true));
    };
  }
  subject.file = "model.safetensors";
  subject.digest = artifact.certificate.files.at(subject.file);
  run_evaluation(arguments, context, subject);
}

void deep_predict(const Arguments& arguments, Context& context) {
  DeepArtifact artifact = read_deep_artifact(arguments.text("model"));
  std::optional<Encoder> encoder;
  std::optional<deep::Records> records;
  if (artifact.encoder) {
    encoder.emplace(for_other_data(*artifact.encoder));
    TableOptions options = table_options(arguments, encoder->schema());
    options.targets = false;
    records = table_records(load_table(arguments.text("data"), *encoder, options),
                            artifact.classification, false);
  } else {
    records = image_records(arguments.text("data"), "t10k", artifact.network->options(), false);
  }
  const std::vector<ScoredRow> rows = score_records(artifact, *records);
  OutputFile file(arguments.text("out"));
  std::string text = artifact.classification ? "prediction,probability\n" : "prediction\n";
  for (const ScoredRow& row : rows) {
    if (!artifact.classification) {
      text += fmt::format("{:.9g}\n", row.prediction);
      continue;
    }
    const auto c = static_cast<std::size_t>(row.prediction);
    text += fmt::format("{},{:.6f}\n",
                        encoder ? csv_field(encoder->target().labels()[c]) : std::to_string(c),
                        row.probabilities[c]);
  }
  file.write(text);
  file.publish();
  if (arguments.flag("json")) {
    context.out.print(
        "{}\n", Json{{"schema", 1}, {"rows", rows.size()}, {"out", arguments.text("out")}}.dump());
  } else {
    context.out.print("wrote {} predictions to {}\n", rows.size(), arguments.text("out"));
  }
}

}  // namespace sotto::cli
