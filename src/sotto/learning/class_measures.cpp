#include "sotto/learning/class_measures.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace sotto {
namespace {

bool counts(const ScoredRow& row, std::optional<std::size_t> group) {
  return !row.null && (!group || row.group == *group);
}

}  // namespace

ClassMeasures class_measures(const Confusion& confusion) {
  ClassMeasures m;
  m.classes.resize(confusion.size());
  for (std::size_t t = 0; t < confusion.size(); ++t) {
    for (std::size_t p = 0; p < confusion[t].size(); ++p) {
      const double n = std::max(confusion[t][p], 0.0);
      m.classes[t].rows += n;
      m.classes[p].predicted += n;
      m.rows += n;
    }
  }
  double occurring = 0;
  for (std::size_t c = 0; c < m.classes.size(); ++c) {
    ClassFigures& f = m.classes[c];
    const double right = std::max(confusion[c][c], 0.0);
    if (f.predicted > 0) f.precision = right / f.predicted;
    if (f.rows + f.predicted > 0) f.f1 = 2 * right / (f.rows + f.predicted);
    if (f.rows > m.classes[m.majority_class].rows) m.majority_class = c;
    if (!(f.rows > 0)) continue;
    f.recall = right / f.rows;
    m.balanced_accuracy += *f.recall;
    m.macro_f1 += f.f1;
    ++occurring;
  }
  if (occurring > 0) {
    m.balanced_accuracy /= occurring;
    m.macro_f1 /= occurring;
    m.majority = m.classes[m.majority_class].rows / m.rows;
  }
  return m;
}

Confusion confusion_of(const std::vector<ScoredRow>& rows, std::size_t classes,
                       std::optional<std::size_t> group) {
  Confusion confusion(classes, std::vector<double>(classes));
  for (const ScoredRow& row : rows) {
    if (!counts(row, group)) continue;
    const auto truth = static_cast<std::size_t>(row.target),
               said = static_cast<std::size_t>(row.prediction);
    if (truth < classes && said < classes) confusion[truth][said] += 1;
  }
  return confusion;
}

double calibration_error(const std::vector<ScoredRow>& rows, std::optional<std::size_t> group) {
  constexpr std::size_t kBins = 10;
  std::array<double, kBins> confidence{}, right{}, count{};
  double total = 0;
  for (const ScoredRow& row : rows) {
    const auto said = static_cast<std::size_t>(row.prediction);
    if (!counts(row, group) || said >= row.probabilities.size()) continue;
    const double p = std::clamp(row.probabilities[said], 0.0, 1.0);
    const auto bin = std::min(kBins - 1, static_cast<std::size_t>(p * kBins));
    confidence[bin] += p;
    right[bin] += row.prediction == row.target ? 1 : 0;
    count[bin] += 1;
    total += 1;
  }
  double error = 0;
  for (std::size_t b = 0; b < kBins; ++b) error += std::fabs(confidence[b] - right[b]);
  return total > 0 ? error / total : 0;
}

}  // namespace sotto
