#include "group_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sotto/core/text.hpp"

namespace sotto::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Column {
  const char *name, *title;
  std::optional<PrivateMetric> GroupFigures::*value;
};
constexpr Column kColumns[] = {
    {"accuracy", "accuracy", &GroupFigures::accuracy},
    {"selection_rate", "selected", &GroupFigures::selection_rate},
    {"true_positive_rate", "true positive", &GroupFigures::true_positive_rate},
    {"false_positive_rate", "false positive", &GroupFigures::false_positive_rate},
    {"calibration", "calibration", &GroupFigures::calibration},
    {"privacy_cost", "privacy cost", &GroupFigures::privacy_cost}};

struct GapLine {
  const char *name, *title;
  std::optional<Gap> GroupReport::*value;
};
constexpr GapLine kGaps[] = {
    {"accuracy", "accuracy", &GroupReport::accuracy},
    {"demographic_parity", "demographic parity", &GroupReport::demographic_parity},
    {"true_positive_rate", "true positive rate", &GroupReport::true_positive_rate},
    {"false_positive_rate", "false positive rate", &GroupReport::false_positive_rate},
    {"equalized_odds", "equalized odds", &GroupReport::equalized_odds},
    {"calibration", "calibration", &GroupReport::calibration},
    {"privacy_cost", "privacy cost", &GroupReport::privacy_cost}};

// Whether there is such a figure in any group.
bool known(const GroupReport& report, const Column& column) {
  return std::any_of(report.groups.begin(), report.groups.end(),
                     [&](const GroupFigures& g) { return (g.*column.value).has_value(); });
}

Json to_json(const std::optional<PrivateMetric>& m) {
  if (!m) return nullptr;
  return {{"value", m->value}, {"lower", m->interval_95.lower}, {"upper", m->interval_95.upper}};
}

Json to_json(const std::optional<Gap>& gap) {
  if (!gap) return nullptr;
  return {{"value", gap->value},
          {"lower", gap->interval_95.lower},
          {"upper", gap->interval_95.upper},
          {"largest", gap->largest},
          {"smallest", gap->smallest}};
}

std::string cell(const std::optional<PrivateMetric>& m) {
  return m ? fmt::format("{:.3f} ({:.3f} to {:.3f})", m->value, m->interval_95.lower,
                         m->interval_95.upper)
           : std::string("-");
}

}  // namespace

void add_figures(Json& json, const GroupFigures& group, const std::vector<std::string>& labels) {
  for (const Column& column : kColumns) {
    const std::optional<PrivateMetric>& m = group.*column.value;
    const bool cost = column.value == &GroupFigures::privacy_cost;
    const bool accuracy = column.value == &GroupFigures::accuracy;
    if (cost || accuracy ? !m : labels.size() != 2) continue;
    json[column.name] = m ? Json(m->value) : Json(nullptr);
    if (!m) continue;
    json[std::string(column.name) + "_lower"] = m->interval_95.lower;
    json[std::string(column.name) + "_upper"] = m->interval_95.upper;
  }
  json["recalls"] = Json::object();
  for (std::size_t c = 0; c < labels.size(); ++c)
    json["recalls"][labels[c]] = to_json(group.recalls[c]);
}

Json gaps_json(const GroupReport& report, const std::vector<std::string>& labels) {
  Json json = Json::object();
  for (const GapLine& line : kGaps) json[line.name] = to_json(report.*line.value);
  json["worst_group"] = report.worst_group ? Json(*report.worst_group) : Json(nullptr);
  json["worst_class"] = report.worst_class ? Json(labels[*report.worst_class]) : Json(nullptr);
  json["worst_class_recall"] = to_json(report.worst_class_recall);
  return json;
}

std::string group_csv(const std::vector<GroupRow>& rows) {
  const auto quoted = [](const std::string& text) {
    std::string out = "\"";
    for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + "\"";
  };
  std::string text = "method,epsilon,group,rows";
  for (const Column& column : kColumns)
    text += fmt::format(",{0},{0}_lower,{0}_upper", column.name);
  text += "\n";
  for (const GroupRow& row : rows)
    for (const GroupFigures& g : row.report->groups) {
      text += fmt::format("{},{:g},{},{:.0f}", quoted(row.method), row.epsilon, quoted(g.group),
                          g.rows);
      for (const Column& column : kColumns) {
        const auto& m = g.*column.value;
        text += m ? fmt::format(",{:.6g},{:.6g},{:.6g}", m->value, m->interval_95.lower,
                                m->interval_95.upper)
                  : std::string(",,,");
      }
      text += "\n";
    }
  return text;
}

std::string group_table(const GroupReport& report, const std::vector<std::string>& labels) {
  std::size_t width = 5;
  for (const GroupFigures& g : report.groups) width = std::max(width, visible(g.group).size());
  std::string text = fmt::format("  {:<{}}  {:>8}", "group", width, "rows");
  for (const Column& column : kColumns)
    if (known(report, column)) text += fmt::format("  {:<25}", column.title);
  for (const GroupFigures& g : report.groups) {
    while (!text.empty() && text.back() == ' ') text.pop_back();
    text += fmt::format("\n  {:<{}}  {:>8.0f}", visible(g.group), width, g.rows);
    for (const Column& column : kColumns)
      if (known(report, column)) text += fmt::format("  {:<25}", cell(g.*column.value));
  }
  while (!text.empty() && text.back() == ' ') text.pop_back();
  text += "\n";
  for (const GapLine& line : kGaps)
    if (const auto& gap = report.*line.value)
      text += fmt::format("  gap in {:<20} {:.4f} (95 %: {:.4f} to {:.4f}), {} above {}\n",
                          line.title, gap->value, gap->interval_95.lower, gap->interval_95.upper,
                          visible(gap->largest), visible(gap->smallest));
  if (report.worst_class_recall)
    text += fmt::format("  worst class {}: recall {}\n", visible(labels[*report.worst_class]),
                        cell(report.worst_class_recall));
  return text;
}

}  // namespace sotto::cli
