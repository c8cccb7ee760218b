#include "sotto/report/roc_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sotto/report/detail/html_page.hpp"
#include "sotto/report/svg_plot.hpp"

namespace sotto {
namespace {

constexpr std::array<const char*, 3> kRocColors = {"#d1495b", "#2f7ed8", "#1fa187"};
constexpr int kSteps = 60;  // of the line that the claim draws

PlotSeries claim_line(const RocReport& report) {
  PlotSeries line{.label = fmt::format("most that ε = {:g} allows", report.claim->epsilon),
                  .color = "#2f7ed8",
                  .dashed = true};
  for (int i = 0; i <= kSteps; ++i) {
    const double x = std::pow(report.smallest, 1 - static_cast<double>(i) / kSteps);
    line.points.emplace_back(x, std::max(report.smallest, report.claim->most(x)));
  }
  return line;
}

}  // namespace

double RocClaim::most(double x) const {
  return std::clamp(
      std::min(std::exp(epsilon) * x + delta, 1 - std::exp(-epsilon) * (1 - delta - x)), 0.0, 1.0);
}

std::string roc_svg(const RocReport& report) {
  Plot plot{.title = report.title,
            .subtitle = report.subtitle,
            .x_label = "false positive rate",
            .y_label = "true positive rate",
            .log_x = true,
            .log_y = true,
            .series = {},
            .warning = report.warning};
  for (std::size_t i = 0; i < report.curves.size(); ++i) {
    PlotSeries series{.label = report.curves[i].label, .color = kRocColors[i % kRocColors.size()]};
    for (const auto& [x, y] : report.curves[i].points)
      series.points.emplace_back(std::max(x, report.smallest), std::max(y, report.smallest));
    plot.series.push_back(std::move(series));
  }
  if (report.claim) plot.series.push_back(claim_line(report));
  PlotSeries chance{.label = "chance", .color = "#777777", .dashed = true};
  chance.points = {{report.smallest, report.smallest}, {1, 1}};
  plot.series.push_back(std::move(chance));
  return to_svg(plot);
}

std::string roc_html(const RocReport& report) {
  std::string head, rows;
  for (const std::string& c : report.columns) head += "<th>" + escape_markup(c) + "</th>";
  for (const RocCurve& curve : report.curves) {
    rows += "<tr><td>" + escape_markup(curve.label) + "</td>";
    for (const std::string& f : curve.figures) rows += "<td>" + escape_markup(f) + "</td>";
    rows += "</tr>\n";
  }
  RocReport plain = report;
  plain.title.clear();  // said above the picture
  plain.warning.clear();
  return html_page(report.title, report.warning,
                   fmt::format("{}\n<table>\n<thead><tr><th>model</th>{}</tr></thead>\n"
                               "<tbody>\n{}</tbody>\n</table>\n{}",
                               roc_svg(plain), head, rows, html_facts(report.facts)));
}

}  // namespace sotto
