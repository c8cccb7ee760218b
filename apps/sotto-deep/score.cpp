#include "score.hpp"

#include <algorithm>

namespace sotto::cli {
namespace {

constexpr std::int64_t kAtOnce = 1024;

ScoredRow classified(const double* probabilities, std::int64_t classes, std::int64_t target) {
  ScoredRow row;
  row.probabilities.assign(probabilities, probabilities + classes);
  row.prediction =
      static_cast<double>(std::max_element(row.probabilities.begin(), row.probabilities.end()) -
                          row.probabilities.begin());
  row.target = static_cast<double>(target >= 0 && target < classes ? target : classes);
  return row;
}

}  // namespace

std::vector<ScoredRow> score_records(deep::Network& network, const Encoder* encoder,
                                     const deep::Records& records) {
  const torch::NoGradGuard no_grad;
  network->eval();
  const bool classification = encoder == nullptr || encoder->is_classification();
  const std::int64_t classes = network->options().outputs;
  std::vector<ScoredRow> rows;
  rows.reserve(static_cast<std::size_t>(records.size()));
  for (std::int64_t first = 0; first < records.size(); first += kAtOnce) {
    const deep::Batch batch = records.range(first, std::min(kAtOnce, records.size() - first));
    const torch::Tensor outputs = network->forward(batch.inputs).to(torch::kDouble);
    const torch::Tensor said =
        (classification ? torch::softmax(outputs, 1).nan_to_num(1.0 / static_cast<double>(classes))
                        : outputs.clamp(-1, 1).nan_to_num(0.0))
            .contiguous();
    const double* const values = said.data_ptr<double>();
    for (std::int64_t i = 0; i < said.size(0); ++i) {
      if (classification) {
        rows.push_back(
            classified(values + i * classes, classes, batch.targets.data_ptr<std::int64_t>()[i]));
      } else {
        ScoredRow row;
        const ColumnEncoder& column = encoder->target();
        row.target = column.unscaled(static_cast<double>(batch.targets.data_ptr<float>()[i]));
        row.prediction = column.unscaled(values[i]);
        rows.push_back(std::move(row));
      }
    }
  }
  return rows;
}

std::vector<ScoredRow> score_records(DeepArtifact& artifact, const deep::Records& records) {
  return score_records(artifact.network, artifact.encoder ? &*artifact.encoder : nullptr, records);
}

}  // namespace sotto::cli
