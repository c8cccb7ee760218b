#include "sotto/learning/group_runs.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "sotto/core/error.hpp"

namespace sotto {
namespace {

// Of Student's law at 97.5 %, by degrees of freedom.
double student(std::size_t degrees) {
  constexpr std::array kTable = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365,
                                 2.306,  2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
                                 2.131,  2.120, 2.110, 2.101, 2.093, 2.086};
  return degrees <= kTable.size() ? kTable[degrees - 1] : 2.08;
}

bool is_right(const ScoredRow& row) { return !row.null && row.prediction == row.target; }

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return sum / static_cast<double>(values.size());
}

// Half of the interval of the mean, for the variation between runs.
double spread_of(const std::vector<double>& values) {
  const std::size_t n = values.size();
  if (n < 2) return 0;
  const double mean = mean_of(values);
  double squares = 0;
  for (const double v : values) squares += (v - mean) * (v - mean);
  return student(n - 1) * std::sqrt(squares / static_cast<double>(n - 1) / static_cast<double>(n));
}

PrivateMetric around(double value, double half, double lower) {
  return {value, {std::max(lower, value - half), std::min(1.0, value + half)}};
}

// The mean over runs; absent where a run has none.
std::optional<PrivateMetric> mean_over(const std::vector<std::optional<PrivateMetric>>& runs,
                                       double lower = 0) {
  std::vector<double> values, halves;
  for (const auto& m : runs) {
    if (!m) return std::nullopt;
    values.push_back(m->value);
    halves.push_back((m->interval_95.upper - m->interval_95.lower) / 2);
  }
  return around(mean_of(values), std::hypot(spread_of(values), mean_of(halves)), lower);
}

}  // namespace

GroupRuns::GroupRuns(std::size_t classes, std::vector<std::string> groups)
    : classes_(classes), groups_(std::move(groups)), rows_(groups_.size()) {}

void GroupRuns::set_baseline(const std::vector<ScoredRow>& rows) {
  if (!reports_.empty()) invariant_broken("a baseline after the runs that it is compared with");
  baseline_.clear();
  for (const ScoredRow& row : rows) baseline_.push_back(is_right(row));
}

void GroupRuns::add(const std::vector<ScoredRow>& rows) {
  reports_.push_back(group_report(group_counts(rows, classes_, groups_)));
  if (baseline_.empty()) return;
  if (baseline_.size() != rows.size()) invariant_broken("runs on other rows than the baseline");
  std::vector<double> cost(groups_.size()), apart(groups_.size());
  rows_.assign(groups_.size(), 0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t g = rows[i].group;
    if (rows[i].null || g >= groups_.size()) continue;
    const double difference = (baseline_[i] ? 1 : 0) - (is_right(rows[i]) ? 1 : 0);
    cost[g] += difference;
    apart[g] += std::fabs(difference);
    rows_[g] += 1;
  }
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    cost[g] /= std::max(1.0, rows_[g]);
    apart[g] /= std::max(1.0, rows_[g]);
  }
  cost_.push_back(std::move(cost));
  apart_.push_back(std::move(apart));
}

std::vector<double> GroupRuns::accuracies(std::size_t group) const {
  std::vector<double> values;
  for (const GroupReport& r : reports_)
    if (const auto& m = r.groups[group].accuracy) values.push_back(m->value);
  return values;
}

std::optional<PrivateMetric> GroupRuns::privacy_cost(std::size_t group) const {
  if (cost_.empty() || rows_[group] < 1) return std::nullopt;
  std::vector<double> cost, apart;
  for (std::size_t r = 0; r < cost_.size(); ++r) {
    cost.push_back(cost_[r][group]);
    apart.push_back(apart_[r][group]);
  }
  const double mean = mean_of(cost);
  const double sampling =
      1.96 * std::sqrt(std::max(0.0, mean_of(apart) - mean * mean) / rows_[group]);
  return around(mean, std::hypot(spread_of(cost), sampling), -1);
}

GroupReport GroupRuns::report() const {
  std::vector<GroupFigures> figures;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const auto over = [&](std::optional<PrivateMetric> GroupFigures::*figure, double lower = 0) {
      std::vector<std::optional<PrivateMetric>> values;
      for (const GroupReport& r : reports_) values.push_back(r.groups[g].*figure);
      return mean_over(values, lower);
    };
    GroupFigures f{.group = groups_[g], .rows = reports_.front().groups[g].rows};
    f.accuracy = over(&GroupFigures::accuracy);
    f.selection_rate = over(&GroupFigures::selection_rate);
    f.true_positive_rate = over(&GroupFigures::true_positive_rate);
    f.false_positive_rate = over(&GroupFigures::false_positive_rate);
    f.calibration = over(&GroupFigures::calibration, -1);
    f.privacy_cost = privacy_cost(g);
    for (std::size_t c = 0; c < classes_; ++c) {
      std::vector<std::optional<PrivateMetric>> values;
      for (const GroupReport& r : reports_) values.push_back(r.groups[g].recalls[c]);
      f.recalls.push_back(mean_over(values));
    }
    figures.push_back(std::move(f));
  }
  GroupReport report = gaps_between(std::move(figures));
  // The class that is worst on average.
  std::vector<std::vector<std::optional<PrivateMetric>>> of_class(classes_);
  for (const GroupReport& r : reports_)
    for (std::size_t c = 0; c < classes_; ++c) of_class[c].push_back(r.class_recalls[c]);
  for (std::size_t c = 0; c < classes_; ++c) {
    const std::optional<PrivateMetric> m = mean_over(of_class[c]);
    report.class_recalls.push_back(m);
    if (m && (!report.worst_class_recall || m->value < report.worst_class_recall->value)) {
      report.worst_class = c;
      report.worst_class_recall = m;
    }
  }
  return report;
}

}  // namespace sotto
