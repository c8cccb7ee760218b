// sotto evaluate and sotto predict for networks.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "artifact.hpp"
#include "commands/commands.hpp"
#include "data.hpp"
#include "deep_commands.hpp"
#include "output_file.hpp"
#include "sotto/core/error.hpp"
#include "sotto/models/evaluation.hpp"

namespace sotto::cli {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::int64_t kAtOnce = 1024;

// Evaluation reads whatever number of rows the file has: the declared number is that of the training data.
std::optional<Encoder> for_other_data(const std::optional<Encoder>& trained) {
  if (!trained) return std::nullopt;
  Schema schema = trained->schema();
  schema.rows.reset();
  return Encoder(std::move(schema));
}

// A field of a CSV file, quoted where it must be.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

// Class probabilities (n, K), or values (n, 1), in double.
torch::Tensor outputs_of(DeepArtifact& artifact, const deep::Records& records) {
  const torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> parts;
  for (std::int64_t first = 0; first < records.size(); first += kAtOnce) {
    const auto batch = records.range(first, std::min(kAtOnce, records.size() - first));
    torch::Tensor out = artifact.network->forward(batch.inputs).to(torch::kDouble);
    parts.push_back(artifact.classification ? torch::softmax(out, 1) : out.clamp(-1, 1));
  }
  if (parts.empty()) throw DataError("the file has no rows to evaluate");
  return torch::cat(parts).contiguous();
}

Json classification_json(const torch::Tensor& probabilities, const torch::Tensor& targets,
                         Interval& interval) {
  const std::int64_t n = targets.size(0);
  const torch::Tensor right = probabilities.argmax(1).eq(targets);
  const torch::Tensor truth = probabilities.gather(1, targets.unsqueeze(1)).clamp_min(1e-15);
  const auto hits = static_cast<std::uint64_t>(right.sum().item<std::int64_t>());
  interval = wilson_95(hits, static_cast<std::uint64_t>(n));
  std::optional<double> auc;
  if (probabilities.size(1) == 2) {
    const torch::Tensor positive = probabilities.select(1, 1).contiguous();
    std::vector<double> scores(positive.data_ptr<double>(), positive.data_ptr<double>() + n);
    std::vector<bool> labels;
    for (std::int64_t i = 0; i < n; ++i) labels.push_back(targets.data_ptr<std::int64_t>()[i] == 1);
    auc = area_under_curve(scores, labels);
  }
  return {{"rows", n},
          {"accuracy", static_cast<double>(hits) / static_cast<double>(n)},
          {"auc", auc ? Json(*auc) : Json(nullptr)},
          {"log_loss", -truth.log().mean().item<double>()}};
}

Json regression_json(const torch::Tensor& outputs, const torch::Tensor& targets,
                     const ColumnEncoder& column) {
  const std::int64_t n = targets.size(0);
  double mean = 0, residual = 0, total = 0, absolute = 0;
  std::vector<double> truth(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i)
    mean += (truth[static_cast<std::size_t>(i)] =
                 column.unscaled(static_cast<double>(targets.data_ptr<float>()[i]))) /
            static_cast<double>(n);
  for (std::int64_t i = 0; i < n; ++i) {
    const double t = truth[static_cast<std::size_t>(i)],
                 e = t - column.unscaled(outputs.data_ptr<double>()[i]);
    residual += e * e, total += (t - mean) * (t - mean), absolute += std::fabs(e);
  }
  return {{"rows", n},
          {"r2", total > 0 ? 1 - residual / total : 0},
          {"rmse", std::sqrt(residual / static_cast<double>(n))},
          {"mae", absolute / static_cast<double>(n)}};
}

}  // namespace

void deep_evaluate(const Arguments& arguments, Context& context) {
  DeepArtifact artifact = read_deep_artifact(arguments.text("model"));
  if (arguments.given("groups"))
    throw Unsupported("--groups is not available for networks", "evaluate a file for each group");
  const auto encoder = for_other_data(artifact.encoder);
  const OtherRecords data =
      other_records(arguments, encoder ? &*encoder : nullptr, artifact.network->options(), true);
  const torch::Tensor outputs = outputs_of(artifact, data.records);
  Interval interval;
  const Json result = artifact.classification
                          ? classification_json(outputs, data.records.targets(), interval)
                          : regression_json(outputs, data.records.targets(), encoder->target());
  if (arguments.flag("json")) {
    Json json = {{"schema", 1}, {"private", false}};
    json.update(result);
    context.out.print("{}\n", json.dump());
  } else if (artifact.classification) {
    context.out.print("accuracy {:.4f} (95 %: {:.4f} to {:.4f}), log-loss {:.4f} on {} rows\n",
                      result["accuracy"].get<double>(), interval.lower, interval.upper,
                      result["log_loss"].get<double>(), result["rows"].get<std::int64_t>());
  } else {
    context.out.print("R2 {:.4f}, RMSE {:.4g}, MAE {:.4g} on {} rows\n", result["r2"].get<double>(),
                      result["rmse"].get<double>(), result["mae"].get<double>(),
                      result["rows"].get<std::int64_t>());
  }
  context.note(
      "NOT PRIVATE: computed from the rows as they are; publish it only if the evaluation data is "
      "public");
}

void deep_predict(const Arguments& arguments, Context& context) {
  DeepArtifact artifact = read_deep_artifact(arguments.text("model"));
  const auto encoder = for_other_data(artifact.encoder);
  const OtherRecords data =
      other_records(arguments, encoder ? &*encoder : nullptr, artifact.network->options(), false);
  const torch::Tensor outputs = outputs_of(artifact, data.records);
  OutputFile file(arguments.text("out"));
  std::string text = artifact.classification ? "prediction,probability\n" : "prediction\n";
  const torch::Tensor best = artifact.classification ? outputs.argmax(1) : torch::Tensor();
  for (std::int64_t i = 0; i < outputs.size(0); ++i) {
    if (artifact.classification) {
      const std::int64_t c = best.data_ptr<std::int64_t>()[i];
      const std::string label =
          encoder ? csv_field(encoder->target().labels()[static_cast<std::size_t>(c)])
                  : std::to_string(c);
      text +=
          fmt::format("{},{:.6f}\n", label, outputs.data_ptr<double>()[i * outputs.size(1) + c]);
    } else {
      text += fmt::format("{:.9g}\n", encoder->target().unscaled(outputs.data_ptr<double>()[i]));
    }
  }
  file.write(text);
  file.publish();
  if (arguments.flag("json")) {
    context.out.print(
        "{}\n",
        Json{{"schema", 1}, {"rows", outputs.size(0)}, {"out", arguments.text("out")}}.dump());
  } else {
    context.out.print("wrote {} predictions to {}\n", outputs.size(0), arguments.text("out"));
  }
}

}  // namespace sotto::cli
