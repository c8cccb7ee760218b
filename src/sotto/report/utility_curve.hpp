// The privacy–utility curve: how good models are for each ε, as a picture, a page and a table.
//
// Plain results in, documents out. The documents load nothing from elsewhere.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sotto {

struct UtilityPoint {
  double epsilon;
  std::vector<double> values;  // one for each repetition, at least one

  double mean() const;
  double lowest() const;
  double highest() const;
};

struct UtilityCurve {
  std::string method;
  std::vector<UtilityPoint> points;  // by rising ε
};

struct UtilityReport {
  std::string title;               // "logistic model of income"
  std::string metric;              // "accuracy"
  bool smaller_is_better = false;  // of the metric
  std::string warning;             // in large letters: whose privacy this costs
  double delta = 0;                // of every run; 0: pure
  std::vector<UtilityCurve> curves;
  std::optional<double> non_private;                       // the metric without privacy
  std::vector<std::pair<std::string, std::string>> facts;  // shown below the table
};

std::string utility_svg(const UtilityReport& report);
std::string utility_html(const UtilityReport& report);
std::string utility_csv(const UtilityReport& report);  // method,epsilon,delta,repeat,METRIC

}  // namespace sotto
