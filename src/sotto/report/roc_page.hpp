// How well attacks tell members from others, as a picture, a page and a table: ROC curves on
// logarithmic axes, beside what a claim of (ε, δ)-DP allows.
//
// Plain results in, documents out. The documents load nothing from elsewhere.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sotto {

struct RocCurve {
  std::string label;                              // "without privacy"
  std::vector<std::pair<double, double>> points;  // false positive rate first, ascending
  std::vector<std::string> figures = {};          // one for each column of the page's table
};

struct RocClaim {
  double epsilon, delta;

  // The most true positives that any test can have: min(e^ε·x + δ, 1 − e^−ε·(1 − δ − x)).
  double most(double false_positive_rate) const;
};

struct RocReport {
  std::string title, subtitle, warning;
  std::vector<RocCurve> curves;
  std::optional<RocClaim> claim = {};
  double smallest = 1e-3;            // rate where the axes begin
  std::vector<std::string> columns;  // of the table, beside the curve's label
  std::vector<std::pair<std::string, std::string>> facts = {};  // shown below it
};

std::string roc_svg(const RocReport& report);
std::string roc_html(const RocReport& report);

}  // namespace sotto
