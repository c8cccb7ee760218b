// How a report about groups is told: for people and for programs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sotto/learning/group_report.hpp"

namespace sotto::cli {

// Of one group, beside what else is said of it.
void add_figures(nlohmann::ordered_json& json, const GroupFigures& group,
                 const std::vector<std::string>& labels);
// {"accuracy": {"value": …, "lower": …, "upper": …, "largest": …, "smallest": …}, …}
nlohmann::ordered_json gaps_json(const GroupReport& report, const std::vector<std::string>& labels);

// A table of reports: method,epsilon,group,rows and each figure with its interval.
struct GroupRow {
  std::string method;
  double epsilon;
  const GroupReport* report;
};
std::string group_csv(const std::vector<GroupRow>& rows);

// A line for each group and one for each gap.
std::string group_table(const GroupReport& report, const std::vector<std::string>& labels);

}  // namespace sotto::cli
