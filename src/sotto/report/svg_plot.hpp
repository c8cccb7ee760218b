// A small line plot as SVG: linear or logarithmic axes, bands, a legend below, a marked point. No
// dependency, no script; dark or light as the reader's screen is, black on white on paper.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sotto {

struct PlotBand {
  double x, lower, upper;
};

struct PlotSeries {
  std::string label;
  std::string color;  // "#1f5fa8"
  bool dashed = false;
  std::vector<std::pair<double, double>> points =
      {};  // ascending in x; not finite, or not positive on a logarithmic axis: a gap
  std::vector<PlotBand> band = {};  // a shaded spread around the points
  bool dots = false;                // a dot at each point
  bool apart = false;  // points that no line joins, such as categories; their bands are whiskers
};

struct PlotPoint {
  double x, y;
  std::string label;
};

struct Plot {
  std::string title, subtitle, x_label, y_label;
  bool log_x = false, log_y = false;
  std::vector<PlotSeries> series;
  std::optional<PlotPoint> mark = {};
  std::vector<double> x_ticks = {};       // where the x axis has labels; empty: round numbers
  std::vector<std::string> x_names = {};  // of x_ticks, aslant in the place of numbers
  std::string warning = {};               // in large letters below the subtitle
  // What is beyond is cut off, so that a few values do not flatten all others.
  std::optional<double> y_lowest = {}, y_highest = {};
};

std::string to_svg(const Plot& plot);
double plot_height(const Plot& plot);  // plots are kPlotWidth wide
inline constexpr double kPlotWidth = 720;

// Text for an SVG or HTML document.
std::string escape_markup(const std::string& text);

// Round numbers that cover [lower, upper]: multiples of 1, 2 or 5 times a power of ten, about
// `wanted` of them.
std::vector<double> linear_ticks(double lower, double upper, int wanted);
// Exponents of powers of ten inside [lower, upper], thinned to about `wanted`.
std::vector<int> decade_ticks(double lower, double upper, int wanted);

}  // namespace sotto
