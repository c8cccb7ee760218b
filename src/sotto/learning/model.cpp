#include "sotto/learning/model.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"

namespace sotto {

std::vector<ScoredRow> Model::score(const Block&, std::optional<std::size_t>) const {
  throw Unsupported("this model predicts no target, so there is no truth to compare it with");
}

Prediction classified(std::span<const double> margins) {
  if (margins.size() == 1) {
    const double p = 1 / (1 + std::exp(-margins[0]));
    return {{1 - p, p}, p > 0.5 ? 1.0 : 0.0};
  }
  const auto top = std::max_element(margins.begin(), margins.end());
  Prediction prediction{{}, static_cast<double>(top - margins.begin())};
  double total = 0;
  for (const double m : margins) {
    prediction.probabilities.push_back(std::exp(m - *top));
    total += prediction.probabilities.back();
  }
  for (double& p : prediction.probabilities) p /= total;
  return prediction;
}

std::vector<OutputColumn> SupervisedModel::columns() const {
  if (labels_.empty()) return {{.name = "prediction"}};
  std::vector<OutputColumn> columns = {{.name = "prediction", .labels = labels_},
                                       {.name = "probability", .is_probability = true}};
  for (const std::string& label : labels_)
    columns.push_back({.name = "probability_" + label, .is_probability = true});
  return columns;
}

double SupervisedModel::unscaled(double value) const {
  return encoder_ ? encoder_->target().unscaled(value) : value;
}

std::vector<double> SupervisedModel::apply(const Block& block) const {
  std::vector<double> values;
  for (const Prediction& p : predict(block)) {
    if (labels_.empty()) {
      values.push_back(unscaled(p.value));
    } else {
      values.push_back(p.value);
      values.push_back(p.probabilities.at(static_cast<std::size_t>(p.value)));
      values.insert(values.end(), p.probabilities.begin(), p.probabilities.end());
    }
  }
  return values;
}

std::vector<ScoredRow> SupervisedModel::score(const Block& block,
                                              std::optional<std::size_t> group) const {
  const std::vector<Prediction> predictions = predict(block);
  std::vector<ScoredRow> rows(predictions.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Prediction& p = predictions[i];
    const double target = block.is_table() ? block.table().targets()[i] : block.images().labels[i];
    const bool is_class = !labels_.empty();
    rows[i].target = is_class ? target : unscaled(target);
    rows[i].prediction = is_class ? p.value : unscaled(p.value);
    rows[i].probabilities = p.probabilities;
    if (group) rows[i].group = block.table().groups(*group)[i];
    rows[i].null = block.is_table() && block.table().is_null(i);
  }
  return rows;
}

}  // namespace sotto
