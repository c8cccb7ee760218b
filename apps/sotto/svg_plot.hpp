// A small line plot as SVG: linear x, linear or logarithmic y, a legend, a marked point. No dependency, no script, prints well.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sotto::cli {

struct PlotSeries {
  std::string label;
  std::string color;  // "#1f5fa8"
  bool dashed = false;
  std::vector<std::pair<double, double>> points =
      {};  // ascending in x; not finite, or not positive on a logarithmic axis: a gap
};

struct PlotPoint {
  double x, y;
  std::string label;
};

struct Plot {
  std::string title, subtitle, x_label, y_label;
  bool log_y = false;
  std::vector<PlotSeries> series;
  std::optional<PlotPoint> mark;
};

std::string to_svg(const Plot& plot);

// Round numbers that cover [lower, upper]: multiples of 1, 2 or 5 times a power of ten, about `wanted` of them.
std::vector<double> linear_ticks(double lower, double upper, int wanted);
// Exponents of powers of ten inside [lower, upper], thinned to about `wanted`.
std::vector<int> decade_ticks(double lower, double upper, int wanted);

}  // namespace sotto::cli
