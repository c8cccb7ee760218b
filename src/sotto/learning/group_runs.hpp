// Several private models of one kind on the same public rows, by group: means over the runs and
// what privacy cost each group.
//
// What       add() takes what a model says of the rows; report() has for each group the mean of
//            every rate over the runs, and, with a model without privacy beside them, the privacy
//            cost: its accuracy less the mean accuracy of the private ones.
// Guarantee  None: the rows are public, and the models were paid for by whoever trained them.
// Method     An interval has two parts, added like standard deviations: how the mean of so many
//            runs varies (Student), and the sampling of the rows. For the privacy cost both models
//            see the same rows: with d the share of rows of which only one is right, the rows vary
//            it by (d − cost²)/n.
// Numerics   Intervals are first order; of one run they speak of the rows only.
// Reference  docs/math/group-reports.md.
#pragma once

#include <string>
#include <vector>

#include "sotto/learning/group_report.hpp"

namespace sotto {

class GroupRuns {
 public:
  GroupRuns(std::size_t classes, std::vector<std::string> groups);

  void set_baseline(const std::vector<ScoredRow>& rows);  // of a model without privacy
  void add(const std::vector<ScoredRow>& rows);           // the same rows by another model

  std::size_t runs() const { return reports_.size(); }
  const std::vector<std::string>& groups() const { return groups_; }
  // The accuracies of a group, run by run; of runs in which the group has rows.
  std::vector<double> accuracies(std::size_t group) const;
  GroupReport report() const;  // of at least one run

 private:
  std::optional<PrivateMetric> privacy_cost(std::size_t group) const;

  std::size_t classes_;
  std::vector<std::string> groups_;
  std::vector<GroupReport> reports_;
  std::vector<bool> baseline_;                     // right or wrong, row by row
  std::vector<std::vector<double>> cost_, apart_;  // of each run and group
  std::vector<double> rows_;                       // of each group
};

}  // namespace sotto
