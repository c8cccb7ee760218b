// How a classifier treats groups: rates of each group and the gaps between groups, with intervals.
//
// What       Per group: rows, accuracy, selection rate (how often the second class is said), true
//            and false positive rates, recall of every class, calibration (the mean probability of
//            the second class less its share). Between groups: largest minus smallest.
// Guarantee  None of its own: computed from counts that are public, NOT PRIVATE or paid for.
// Method     A rate is a quotient of sums of confusion counts. Gaps: demographic parity is that of
//            selection rates, equalized odds the larger of the gaps of true and of false positive
//            rates (more than two classes: the largest gap of a recall).
// Numerics   Intervals: first order, sampling of the rows plus noise of the counts, never shorter
//            than the score interval; of a gap by combining the two. A rate whose divisor drowns in
//            noise is absent.
// Reference  [New98]; docs/math/group-reports.md.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sotto/learning/class_measures.hpp"
#include "sotto/learning/private_evaluation.hpp"

namespace sotto {

// What is known of one group.
struct GroupCounts {
  std::string group;
  Confusion confusion;
  double sigma = 0;                               // of the noise of a count; 0: exact
  double z = 1.96;                                // standard deviations of a 95 % interval
  std::optional<PrivateMetric> calibration = {};  // two classes
};

struct GroupFigures {
  std::string group;
  double rows = 0;
  std::optional<PrivateMetric> accuracy = {};
  std::optional<PrivateMetric> selection_rate = {};
  std::optional<PrivateMetric> true_positive_rate = {}, false_positive_rate = {};
  std::optional<PrivateMetric> calibration = {};
  std::optional<PrivateMetric> privacy_cost = {};          // accuracy without privacy less this one
  std::vector<std::optional<PrivateMetric>> recalls = {};  // of each class
};

struct Gap {
  double value = 0;
  Interval interval_95;
  std::string largest, smallest;  // the groups
};

struct GroupReport {
  std::vector<GroupFigures> groups;
  std::optional<Gap> accuracy, demographic_parity, true_positive_rate, false_positive_rate,
      equalized_odds, calibration, privacy_cost;
  std::vector<std::optional<Gap>> recalls;                  // of each class
  std::optional<std::string> worst_group;                   // by accuracy
  std::vector<std::optional<PrivateMetric>> class_recalls;  // over all groups
  std::optional<std::size_t> worst_class;                   // by recall over all groups
  std::optional<PrivateMetric> worst_class_recall;          //
};

// All groups have the same classes.
GroupReport group_report(const std::vector<GroupCounts>& groups);
// The gaps between figures, however they were found. The worst class is the caller's to say.
GroupReport gaps_between(std::vector<GroupFigures> groups);

// Of rows as they are: exact counts, which are as private as the rows.
std::vector<GroupCounts> group_counts(const std::vector<ScoredRow>& rows, std::size_t classes,
                                      const std::vector<std::string>& groups);
// Of a private evaluation with groups.
std::vector<GroupCounts> group_counts(const PrivateEvaluation& evaluation,
                                      const std::vector<std::string>& groups);

// Largest minus smallest of those that are there; nothing of fewer than two.
std::optional<Gap> gap_of(const std::vector<GroupFigures>& groups,
                          std::optional<PrivateMetric> GroupFigures::*figure);

}  // namespace sotto
