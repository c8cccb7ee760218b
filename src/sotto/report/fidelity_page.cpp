#include "sotto/report/fidelity_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/report/svg_plot.hpp"

namespace sotto {
namespace {

constexpr double kPageWidth = 720, kLine = 22, kNames = 240;
constexpr std::size_t kMostBars = 40;

// Two bars for each level: what was released, and what was drawn.
std::string bars(const FidelityLine& line) {
  const std::size_t count = std::min(line.labels.size(), kMostBars);
  double most = 1e-9;
  for (std::size_t i = 0; i < count; ++i) most = std::max({most, line.released[i], line.drawn[i]});
  const double scale = (kPageWidth - kNames - 70) / most;
  std::string svg = fmt::format(
      "<svg viewBox=\"0 0 {0} {1}\" role=\"img\" aria-label=\"shares of the levels of {2}\">\n",
      kPageWidth, kLine * static_cast<double>(count) + 4, escape_markup(line.columns[0]));
  for (std::size_t i = 0; i < count; ++i) {
    const double y = kLine * static_cast<double>(i), released = std::max(0.0, line.released[i]);
    svg += fmt::format(
        "<text x=\"{0}\" y=\"{1}\" text-anchor=\"end\">{2}</text>"
        "<rect class=\"released\" x=\"{3}\" y=\"{4}\" width=\"{5:.1f}\" height=\"8\"/>"
        "<rect class=\"drawn\" x=\"{3}\" y=\"{6}\" width=\"{7:.1f}\" height=\"8\"/>"
        "<text x=\"{8:.1f}\" y=\"{1}\">{9:.1f} %</text>\n",
        kNames - 8, y + 15, escape_markup(line.labels[i]), kNames, y + 2, released * scale, y + 11,
        line.drawn[i] * scale, kNames + 6 + std::max(released, line.drawn[i]) * scale,
        100 * line.drawn[i]);
  }
  svg += "</svg>\n";
  if (line.labels.size() > count)
    svg += fmt::format("<p>and {} more levels</p>\n", line.labels.size() - count);
  return svg;
}

}  // namespace

std::string fidelity_html(const FidelityReport& report) {
  std::string columns, pairs, facts;
  double worst = 0;
  for (const FidelityLine& line : report.drawn.fidelity) {
    if (line.columns.size() == 1) {
      columns += fmt::format("<h3>{}</h3>\n{}", escape_markup(line.columns[0]), bars(line));
      continue;
    }
    worst = std::max(worst, line.difference);
    pairs += fmt::format("<tr><td>{}</td><td>{:.4f}</td><td>{:.4f}</td></tr>\n",
                         escape_markup(fmt::format("{}", fmt::join(line.columns, " × "))),
                         line.difference, line.noise);
  }
  for (const auto& [key, value] : report.facts)
    facts += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_markup(key), escape_markup(value));
  const std::string alarm = report.warning.empty() ? ""
                                                   : fmt::format("<p class=\"alarm\">{}</p>\n",
                                                                 escape_markup(report.warning));
  return fmt::format(R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{0}</title>
<style>
:root {{ color-scheme: light dark; --paper: #fff; --ink: #222; --line: #ddd; --loud: #b3261e; --wash: #fdecea; --one: #9aa7b5; --two: #1f5fa8 }}
@media (prefers-color-scheme: dark) {{ :root {{ --paper: #16181d; --ink: #ddd; --line: #333; --loud: #ff8a80; --wash: #331a1a; --one: #5b6673; --two: #6fa8e8 }} }}
body {{ font: 16px/1.5 "DejaVu Sans", Verdana, sans-serif; margin: 2rem auto; max-width: 760px; padding: 0 1rem; background: var(--paper); color: var(--ink) }}
.alarm {{ font-size: 1.7rem; font-weight: bold; line-height: 1.3; color: var(--loud); background: var(--wash); border-left: 6px solid var(--loud); padding: .8rem 1.2rem }}
svg {{ width: 100%; height: auto; font-size: 12px }}
svg text {{ fill: var(--ink) }} .released {{ fill: var(--one) }} .drawn {{ fill: var(--two) }}
table {{ border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums }}
th, td {{ text-align: right; padding: .3rem .6rem; border-bottom: 1px solid var(--line) }}
th:first-child, td:first-child {{ text-align: left }}
dt {{ font-weight: bold }} dd {{ margin: 0 0 .6rem }}
</style>
</head>
<body>
<h1>{0}</h1>
{1}<p>{2} records were drawn. Guarantee: {3}. This page compares them with the noisy counts that were
released, not with the data: it costs nothing and says nothing more about anybody.</p>
<h2>Columns together</h2>
<p>Total variation between the records and the released counts of the columns that were measured together, and about
how much of it noise alone explains. What is not listed was not measured: the records
have of it what follows from the rest.</p>
<table>
<thead><tr><th>columns</th><th>difference</th><th>noise</th></tr></thead>
<tbody>
{4}</tbody>
</table>
<h2>Columns</h2>
<p>Shares of the levels of each column: as released (grey) and as drawn (blue).</p>
{5}<dl>
{6}</dl>
</body>
</html>
)",
                     escape_markup(report.title), alarm, report.drawn.rows,
                     escape_markup(report.guarantee), pairs, columns, facts);
}

}  // namespace sotto
