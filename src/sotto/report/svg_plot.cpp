#include "sotto/report/svg_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sotto/core/text.hpp"

namespace sotto {
namespace {

constexpr double kWidth = kPlotWidth, kHeight = 460;
constexpr double kLeft = 84, kRight = 24, kTop = 66, kBottom = 60;
constexpr double kNamesBelow = 80;        // more room below, for names aslant
constexpr double kNameRoom = 17;          // on the axis
constexpr std::size_t kNameLetters = 14;  // of a name that are shown

// Maps data to the page; y is kept as its logarithm on a logarithmic axis.
struct Axes {
  bool log_x, log_y;
  double top = kTop, bottom = kHeight - kBottom;  // of the drawing area
  double x0 = std::numeric_limits<double>::infinity(), x1 = -x0, y0 = x0, y1 = -x0;

  double place_of(double x) const { return log_x ? std::log10(x) : x; }
  double height_of(double y) const { return log_y ? std::log10(y) : y; }
  bool shows(double x, double y) const {
    return std::isfinite(x) && std::isfinite(y) && (!log_x || x > 0) && (!log_y || y > 0);
  }
  void include(double x, double y) {
    if (!shows(x, y)) return;
    x0 = std::min(x0, place_of(x));
    x1 = std::max(x1, place_of(x));
    y0 = std::min(y0, height_of(y));
    y1 = std::max(y1, height_of(y));
  }
  void cut(std::optional<double> lowest, std::optional<double> highest) {
    if (lowest && shows(1, *lowest)) y0 = std::max(y0, height_of(*lowest));
    if (highest && shows(1, *highest)) y1 = std::min(y1, height_of(*highest));
    if (y0 > y1) std::swap(y0, y1);
  }
  void widen() {  // an empty or flat plot still needs an extent
    if (!(x0 <= x1)) x0 = y0 = 0, x1 = y1 = 1;
    if (x0 == x1) x1 = x0 + 1;
    if (y0 == y1) y0 -= 1, y1 += 1;
  }
  // Room around a curve that does not fill the frame by its nature.
  void margin(double share) {
    const double x = share * (x1 - x0), y = share * (y1 - y0);
    x0 -= x, x1 += x, y0 -= y, y1 += y;
  }
  double px(double x) const {
    return kLeft + (place_of(x) - x0) / (x1 - x0) * (kWidth - kLeft - kRight);
  }
  double py(double h) const { return bottom - (h - y0) / (y1 - y0) * (bottom - top); }
};

std::string superscript(int number) {
  static const char* const digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string result;
  for (char c : std::to_string(number)) result += c == '-' ? "⁻" : digits[c - '0'];
  return result;
}

void text_at(std::string& out, double x, double y, const std::string& text,
             const char* attributes) {
  out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, attributes,
                     escape_markup(text));
}

struct LogTick {
  int digit, decade;
  double value, place;
};

// Powers of ten; where those are fewer than three, 2 and 5 times them as well.
std::vector<LogTick> log_ticks(double lower, double upper) {
  std::vector<LogTick> ticks;
  const auto add = [&](int digit, int decade) {
    const double value = digit * std::pow(10, decade), place = std::log10(value);
    if (place >= lower - 1e-9 && place <= upper + 1e-9)
      ticks.push_back({digit, decade, value, place});
  };
  const std::vector<int> decades = decade_ticks(lower, upper, 8);
  if (decades.size() >= 3) {
    for (const int e : decades) add(1, e);
  } else {
    for (int e = static_cast<int>(std::floor(lower)); e <= std::floor(upper + 1e-9); ++e)
      for (const int digit : {1, 2, 5}) add(digit, e);
  }
  return ticks;
}

// Its first letters, where it is long.
std::string shortened(const std::string& name) {
  std::size_t at = 0, letters = 0, kept = 0;
  while (at < name.size()) {
    next_code_point(name, at);
    if (++letters == kNameLetters - 1) kept = at;
  }
  return letters <= kNameLetters ? name : name.substr(0, kept) + "…";
}

// Names of which all, or every second, every third … have room beside each other.
void draw_names(std::string& out, const Axes& axes, const std::vector<double>& ticks,
                const std::vector<std::string>& names) {
  const double room = (kWidth - kLeft - kRight) / kNameRoom;
  const auto step =
      static_cast<std::size_t>(std::max(1.0, std::ceil(static_cast<double>(ticks.size()) / room)));
  for (std::size_t i = 0; i < ticks.size() && i < names.size(); i += step) {
    const double x = axes.px(ticks[i]);
    out +=
        fmt::format("<line class=\"grid\" x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2}\"/>\n",
                    x, axes.top, axes.bottom);
    out += fmt::format(
        "<text transform=\"translate({:.1f} {:.1f}) rotate(-50)\" text-anchor=\"end\">{}</text>\n",
        x + 5, axes.bottom + 14, escape_markup(shortened(names[i])));
  }
}

void draw_grid(std::string& out, const Axes& axes, std::vector<double> ticks,
               const std::vector<std::string>& names) {
  const double bottom = axes.bottom, right = kWidth - kRight;
  const auto horizontal = [&](double h, const std::string& label) {
    out += fmt::format("<line class=\"grid\" x1=\"{}\" y1=\"{:.1f}\" x2=\"{}\" y2=\"{:.1f}\"/>\n",
                       kLeft, axes.py(h), right, axes.py(h));
    text_at(out, kLeft - 8, axes.py(h) + 4, label, "text-anchor=\"end\"");
  };
  if (axes.log_y) {
    for (const LogTick& t : log_ticks(axes.y0, axes.y1))
      horizontal(t.place, std::abs(t.decade) <= 4
                              ? fmt::format("{:.6g}", t.value)
                              : (t.digit > 1 ? fmt::format("{}·", t.digit) : "") + "10" +
                                    superscript(t.decade));
  } else {
    for (double y : linear_ticks(axes.y0, axes.y1, 6)) horizontal(y, fmt::format("{:.6g}", y));
  }
  if (!names.empty()) {
    draw_names(out, axes, ticks, names);
    ticks.clear();
  } else if (ticks.empty() && axes.log_x) {
    for (const LogTick& t : log_ticks(axes.x0, axes.x1)) ticks.push_back(t.value);
  } else if (ticks.empty()) {
    ticks = linear_ticks(axes.x0, axes.x1, 8);
  }
  for (double x : ticks) {
    out +=
        fmt::format("<line class=\"grid\" x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2}\"/>\n",
                    axes.px(x), axes.top, bottom);
    text_at(out, axes.px(x), bottom + 20, fmt::format("{:.6g}", x), "text-anchor=\"middle\"");
  }
  out +=
      fmt::format("<path class=\"axis\" d=\"M{} {} V{} H{}\"/>\n", kLeft, axes.top, bottom, right);
}

void draw_band(std::string& out, const Axes& axes, const PlotSeries& series) {
  if (series.band.empty()) return;
  if (series.apart) {
    for (const PlotBand& b : series.band)
      out += fmt::format(
          "<line stroke=\"{0}\" stroke-opacity=\"0.45\" stroke-width=\"3\" x1=\"{1:.2f}\" "
          "y1=\"{2:.2f}\" x2=\"{1:.2f}\" y2=\"{3:.2f}\"/>\n",
          series.color, axes.px(b.x), axes.py(axes.height_of(b.lower)),
          axes.py(axes.height_of(b.upper)));
    return;
  }
  std::string points;
  const auto add = [&](double x, double y) {
    points += fmt::format("{:.2f},{:.2f} ", axes.px(x), axes.py(axes.height_of(y)));
  };
  for (const PlotBand& b : series.band) add(b.x, b.upper);
  for (auto b = series.band.rbegin(); b != series.band.rend(); ++b) add(b->x, b->lower);
  points.pop_back();
  out += fmt::format("<polygon fill=\"{}\" fill-opacity=\"0.18\" points=\"{}\"/>\n", series.color,
                     points);
}

void draw_series(std::string& out, const Axes& axes, const PlotSeries& series) {
  std::string path;
  bool pen_down = false;
  for (const auto& [x, y] : series.points) {
    if (series.apart) break;
    if (!axes.shows(x, y)) {
      pen_down = false;
      continue;
    }
    path += fmt::format("{}{:.2f} {:.2f} ", pen_down ? "L" : "M", axes.px(x),
                        axes.py(axes.height_of(y)));
    pen_down = true;
  }
  if (!path.empty()) path.pop_back();
  if (!path.empty())
    out += fmt::format("<path class=\"curve\" stroke=\"{}\"{} d=\"{}\"/>\n", series.color,
                       series.dashed ? " stroke-dasharray=\"6 5\"" : "", path);
  for (const auto& [x, y] : series.points) {
    if (series.dots && axes.shows(x, y))
      out += fmt::format("<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"4\" fill=\"{}\"/>\n", axes.px(x),
                         axes.py(axes.height_of(y)), series.color);
  }
}

// Below the drawing, where it covers nothing: two in a line, which have room for long names.
constexpr std::size_t kLegendColumns = 2;

// One curve without a name needs none.
bool has_legend(const std::vector<PlotSeries>& series) {
  return series.size() != 1 || !series.front().label.empty();
}

double legend_height(const std::vector<PlotSeries>& series) {
  if (!has_legend(series)) return 0;
  const std::size_t lines = (series.size() + kLegendColumns - 1) / kLegendColumns;
  return 20 * static_cast<double>(lines);
}

void draw_legend(std::string& out, const std::vector<PlotSeries>& series) {
  if (!has_legend(series)) return;
  constexpr double kColumn = (kWidth - kLeft - kRight) / kLegendColumns;
  for (std::size_t i = 0; i < series.size(); ++i) {
    const PlotSeries& s = series[i];
    const std::size_t column = i % kLegendColumns, line = i / kLegendColumns;
    const double x = kLeft + kColumn * static_cast<double>(column);
    const double y = kHeight + 10 + 20 * static_cast<double>(line);
    out += fmt::format(
        "<line class=\"curve\" stroke=\"{}\"{} x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>\n",
        s.color, s.dashed ? " stroke-dasharray=\"6 5\"" : "", x, y - 4, x + 30, y - 4);
    text_at(out, x + 38, y, s.label, "");
  }
}

}  // namespace

std::string escape_markup(const std::string& text) {
  std::string result;
  for (char c : text) {
    switch (c) {
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '&': result += "&amp;"; break;
      case '"': result += "&quot;"; break;
      default: result += c;
    }
  }
  return result;
}

std::vector<double> linear_ticks(double lower, double upper, int wanted) {
  const double raw = (upper - lower) / wanted;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  const double factor = raw / power;
  const double step = power * (factor <= 1 ? 1 : factor <= 2 ? 2 : factor <= 5 ? 5 : 10);
  std::vector<double> ticks;
  for (double k = std::ceil(lower / step - 1e-9); k * step <= upper + 1e-9 * step; ++k)
    ticks.push_back(k * step + 0.0);  // no "-0"
  return ticks;
}

std::vector<int> decade_ticks(double lower, double upper, int wanted) {
  const int first = static_cast<int>(std::ceil(lower - 1e-9)),
            last = static_cast<int>(std::floor(upper + 1e-9));
  const int step = std::max(1, (last - first + wanted - 1) / wanted);
  std::vector<int> ticks;
  for (int e = last - (last % step + step) % step; e >= first; e -= step) ticks.push_back(e);
  return ticks;
}

double plot_height(const Plot& plot) { return kHeight + legend_height(plot.series); }

std::string to_svg(const Plot& plot) {
  Axes axes{.log_x = plot.log_x, .log_y = plot.log_y};
  if (!plot.x_names.empty()) axes.bottom -= kNamesBelow;
  if (!plot.warning.empty()) axes.top += 34;
  bool dots = false;
  for (const PlotSeries& s : plot.series) {
    dots = dots || s.dots;
    for (const auto& [x, y] : s.points) axes.include(x, y);
    for (const PlotBand& b : s.band) {
      axes.include(b.x, b.lower);
      axes.include(b.x, b.upper);
    }
  }
  axes.cut(plot.y_lowest, plot.y_highest);
  axes.widen();
  if (dots) axes.margin(0.05);
  std::string out = fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" height="{1}">
<style>
text {{ font: 13px "DejaVu Sans", Verdana, sans-serif; fill: #222 }}
.title {{ font-size: 16px; font-weight: bold }}
.warning {{ font-size: 19px; font-weight: bold; fill: #b3261e }}
.paper {{ fill: #fff }}
.grid {{ stroke: #e4e4e4; stroke-width: 1 }}
.axis {{ stroke: #444; stroke-width: 1.2; fill: none }}
.curve {{ stroke-width: 2; fill: none; stroke-linejoin: round }}
@media screen and (prefers-color-scheme: dark) {{
text {{ fill: #ddd }} .warning {{ fill: #ff8a80 }} .paper {{ fill: #16181d }} .grid {{ stroke: #2c3038 }} .axis {{ stroke: #999 }}
}}
</style>
<rect class="paper" width="100%" height="100%"/>
)",
      kWidth, plot_height(plot));
  text_at(out, kLeft, 28, plot.title, "class=\"title\"");
  text_at(out, kLeft, 48, plot.subtitle, "");
  if (!plot.warning.empty()) text_at(out, kLeft, 78, plot.warning, "class=\"warning\"");
  draw_grid(out, axes, plot.x_ticks, plot.x_names);
  out += fmt::format(  // a picture in the picture shows nothing beyond its frame
      "<svg x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{3}\" viewBox=\"{0} {1} {2} {3}\">\n",
      kLeft - 6, axes.top - 6, kWidth - kLeft - kRight + 12, axes.bottom - axes.top + 6);
  for (const PlotSeries& s : plot.series) draw_band(out, axes, s);
  for (const PlotSeries& s : plot.series) draw_series(out, axes, s);
  out += "</svg>\n";
  if (plot.mark && axes.shows(plot.mark->x, plot.mark->y)) {
    const double x = axes.px(plot.mark->x), y = axes.py(axes.height_of(plot.mark->y));
    out += fmt::format("<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"4.5\" fill=\"#c0392b\"/>\n", x, y);
    const bool left = x > kWidth / 2;  // keep the words inside the frame
    text_at(out, left ? x - 10 : x + 10, y + (left ? 18 : -8), plot.mark->label,
            left ? "text-anchor=\"end\"" : "");
  }
  draw_legend(out, plot.series);
  text_at(out, (kLeft + kWidth - kRight) / 2, kHeight - 14, plot.x_label, "text-anchor=\"middle\"");
  const double middle = (axes.top + axes.bottom) / 2;
  out += fmt::format(
      "<text transform=\"translate(22 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n", middle,
      escape_markup(plot.y_label));
  return out + "</svg>\n";
}

}  // namespace sotto
