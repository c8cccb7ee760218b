// How good a model is on a table: accuracy, area under the curve, log-loss; or R², root mean square
// and mean absolute error.
//
// These numbers are computed from the rows as they are: on private rows they are NOT PRIVATE, and
// whoever prints them says so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sotto {

struct Interval {
  double lower = 0, upper = 0;
};

struct ClassificationQuality {
  std::uint64_t rows = 0;
  double accuracy = 0, log_loss = 0;
  std::optional<double> auc;  // two classes, both present
  Interval accuracy_95;       // Wilson
};

struct RegressionQuality {
  std::uint64_t rows = 0;
  double r2 = 0, rmse = 0, mae = 0;  // in the unit of the target column
};

struct GroupQuality {
  std::string group;
  ClassificationQuality classification;
  RegressionQuality regression;
};

// What a model says about one record, beside the truth.
struct ScoredRow {
  double target = 0;                       // class index, or the value in the unit of the column
  std::vector<double> probabilities = {};  // one for each class; empty for regression
  double prediction = 0;                   // class index, or the value
  std::uint32_t group = 0;
  bool null = false;  // a null record (data/table.hpp): counts nowhere
};

struct Evaluation {
  bool is_classification = true;
  ClassificationQuality classification;
  RegressionQuality regression;
  std::vector<GroupQuality> groups;  // of the group column asked for, in the order of its labels
};

// labels: the names of the groups that the rows' group numbers mean; none: no groups.
Evaluation evaluate(bool classification, const std::vector<ScoredRow>& rows,
                    const std::vector<std::string>& labels = {});

// The score interval for a proportion.
Interval wilson_95(std::uint64_t successes, std::uint64_t trials);
// The probability that a random positive scores above a random negative, ties counted half.
std::optional<double> area_under_curve(const std::vector<double>& scores,
                                       const std::vector<bool>& positive);

}  // namespace sotto
