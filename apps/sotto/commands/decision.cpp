#include "decision.hpp"

#include "sotto/core/error.hpp"

namespace sotto::cli {

Option threshold_option() {
  return {.name = "threshold",
          .type = Type::number,
          .value = "P",
          .help = "two classes: predict the second from this probability on; default: the likelier",
          .range = Range::between(0, 1)};
}

std::optional<double> threshold_of(const Arguments& arguments, const Model& model) {
  const std::optional<double> threshold = arguments.maybe_number("threshold");
  if (threshold && model.columns().front().labels.size() != 2)
    throw InvalidArgument("--threshold decides between two classes, which this model does not have",
                          "leave it out");
  return threshold;
}

void decide(std::span<double> columns, double threshold) {
  const bool second = columns[3] >= threshold;
  columns[0] = second ? 1 : 0;
  columns[1] = columns[second ? 3 : 2];
}

void decide(std::vector<ScoredRow>& rows, double threshold) {
  for (ScoredRow& row : rows) row.prediction = row.probabilities.at(1) >= threshold ? 1 : 0;
}

}  // namespace sotto::cli
