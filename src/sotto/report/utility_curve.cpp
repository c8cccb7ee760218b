#include "sotto/report/utility_curve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "sotto/report/detail/html_page.hpp"
#include "sotto/report/svg_plot.hpp"

namespace sotto {
namespace {

// Told apart by people who do not tell red from green, on white and on black.
constexpr std::array<const char*, 7> kMethodColors = {"#2f7ed8", "#e08a1e", "#1fa187", "#c44e9c",
                                                      "#8c6bd1", "#b8a21a", "#d1495b"};

std::string delta_text(double delta) {
  return delta > 0 ? fmt::format("δ = {:g}", delta) : "pure ε-DP";
}

std::size_t repeats(const UtilityReport& report) {
  return report.curves.empty() || report.curves.front().points.empty()
             ? 0
             : report.curves.front().points.front().values.size();
}

// A run that learnt nothing can be arbitrarily bad. What matters is between the best and as far
// below it again as "nothing learnt" is: a metric that grows without bound is cut at four times its
// best value, R² a little below 0, which a constant reaches.
void cut_axis(const UtilityReport& report, Plot& plot) {
  double best = report.smaller_is_better ? INFINITY : -INFINITY;
  const auto see = [&](double v) {
    best = report.smaller_is_better ? std::min(best, v) : std::max(best, v);
  };
  for (const UtilityCurve& curve : report.curves)
    for (const UtilityPoint& p : curve.points) see(p.mean());
  if (report.non_private) see(*report.non_private);
  if (!std::isfinite(best)) return;
  if (report.smaller_is_better) plot.y_highest = best > 0 ? 4 * best : 1.0;
  if (report.metric == "r2") plot.y_lowest = std::min(-0.1, best - 0.2);
}

}  // namespace

double UtilityPoint::mean() const {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}
double UtilityPoint::lowest() const { return *std::min_element(values.begin(), values.end()); }
double UtilityPoint::highest() const { return *std::max_element(values.begin(), values.end()); }

std::string utility_svg(const UtilityReport& report) {
  Plot plot{.title = report.title,
            .subtitle = fmt::format("{}; mean and spread of {} runs at each ε",
                                    delta_text(report.delta), repeats(report)),
            .x_label = "ε (smaller is more private)",
            .y_label = report.metric,
            .log_x = true,
            .series = {}};
  plot.warning = report.warning;
  double first = 0, last = 0;
  for (std::size_t i = 0; i < report.curves.size(); ++i) {
    const UtilityCurve& curve = report.curves[i];
    PlotSeries series{.label = curve.method, .color = kMethodColors[i % kMethodColors.size()]};
    series.dots = true;
    for (const UtilityPoint& p : curve.points) {
      series.points.emplace_back(p.epsilon, p.mean());
      series.band.push_back({p.epsilon, p.lowest(), p.highest()});
    }
    if (curve.points.empty()) continue;
    first =
        first == 0 ? curve.points.front().epsilon : std::min(first, curve.points.front().epsilon);
    last = std::max(last, curve.points.back().epsilon);
    if (i == 0) {
      for (const UtilityPoint& p : curve.points) plot.x_ticks.push_back(p.epsilon);
    }
    plot.series.push_back(std::move(series));
  }
  if (report.non_private) {
    PlotSeries line{.label = "without privacy", .color = "#888888", .dashed = true};
    line.points = {{first, *report.non_private}, {last, *report.non_private}};
    plot.series.push_back(std::move(line));
  }
  cut_axis(report, plot);
  return to_svg(plot);
}

std::string utility_csv(const UtilityReport& report) {
  std::string text = fmt::format("method,epsilon,delta,repeat,{}\n", report.metric);
  for (const UtilityCurve& curve : report.curves) {
    for (const UtilityPoint& p : curve.points) {
      for (std::size_t i = 0; i < p.values.size(); ++i)
        text += fmt::format("{},{},{},{},{}\n", curve.method, p.epsilon, report.delta, i + 1,
                            p.values[i]);
    }
  }
  if (report.non_private) text += fmt::format("none,,,1,{}\n", *report.non_private);
  return text;
}

std::string utility_html(const UtilityReport& report) {
  std::string rows;
  for (const UtilityCurve& curve : report.curves) {
    for (const UtilityPoint& p : curve.points)
      rows += fmt::format(
          "<tr><td>{}</td><td>{:g}</td><td>{:.4f}</td><td>{:.4f}</td><td>{:.4f}</td></tr>\n",
          escape_markup(curve.method), p.epsilon, p.mean(), p.lowest(), p.highest());
  }
  if (report.non_private)
    rows += fmt::format(
        "<tr><td>without privacy</td><td>∞</td><td>{0:.4f}</td><td></td><td></td></tr>\n",
        *report.non_private);
  UtilityReport plain = report;
  plain.warning.clear();  // said above the picture, and so is the title
  plain.title.clear();
  return html_page(report.title, report.warning,
                   fmt::format(R"({}
<table>
<thead><tr><th>method</th><th>ε</th><th>mean {}</th><th>lowest</th><th>highest</th></tr></thead>
<tbody>
{}</tbody>
</table>
{})",
                               utility_svg(plain), escape_markup(report.metric), rows,
                               html_facts(report.facts)));
}

}  // namespace sotto
