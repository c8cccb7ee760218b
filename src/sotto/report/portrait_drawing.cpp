#include "sotto/report/portrait_drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "sotto/report/svg_plot.hpp"

namespace sotto {
namespace {

constexpr std::size_t kPlotsInARow = 2;
constexpr double kBeside = 0.12;                // of classes at one category
constexpr double kLetter = 7.4, kPadding = 24;  // of the letters in a box
constexpr double kLevelHeight = 76, kBoxHeight = 40, kEdge = 20;
constexpr const char* kColors[] = {"#1f5fa8", "#c0392b", "#2e8b57", "#8e44ad",
                                   "#d68910", "#117a8b", "#7f8c8d"};

// How deep a tree is, and where its nodes stand: leaves side by side, a question above its answers.
struct Layout {
  std::vector<double> x;
  std::vector<std::size_t> level;
  std::size_t leaves = 0, levels = 0;
  double box = 0;  // as wide as the longest text

  explicit Layout(const PortraitTree& tree) : x(tree.nodes.size()), level(tree.nodes.size()) {
    for (const PortraitTree::Node& n : tree.nodes)
      box = std::max(box, kPadding + kLetter * static_cast<double>(n.text.size()));
    if (!tree.nodes.empty()) place(tree, 0, 0);
  }

 private:
  double place(const PortraitTree& tree, std::size_t node, std::size_t depth) {
    const PortraitTree::Node& n = tree.nodes[node];
    level[node] = depth;
    levels = std::max(levels, depth + 1);
    if (!n.no || !n.yes) {
      x[node] = kEdge + (static_cast<double>(leaves++) + 0.5) * box;
    } else {
      const double left = place(tree, *n.no, depth + 1), right = place(tree, *n.yes, depth + 1);
      x[node] = (left + right) / 2;
    }
    return x[node];
  }
};

std::string tree_svg(const PortraitTree& tree, const Layout& layout) {
  std::string lines, boxes;
  const auto top = [&](std::size_t node) {
    return kEdge + static_cast<double>(layout.level[node]) * kLevelHeight;
  };
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const PortraitTree::Node& n = tree.nodes[i];
    const bool question = n.no && n.yes;
    for (const bool yes : {false, true}) {
      if (!question) break;
      const std::size_t child = yes ? *n.yes : *n.no;
      const double x = layout.x[child], y = top(child);
      lines += fmt::format(
          "<line class=\"edge\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n",
          layout.x[i], top(i) + kBoxHeight, x, y);
      lines += fmt::format("<text class=\"way\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
                           (layout.x[i] + 2 * x) / 3, (top(i) + kBoxHeight + 2 * y) / 3,
                           yes ? "yes" : "no");
    }
    boxes += fmt::format(
        "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
        "rx=\"6\"/>\n"
        "<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
        question ? "question" : "answer", layout.x[i] - layout.box / 2 + 4, top(i), layout.box - 8,
        kBoxHeight, layout.x[i], top(i) + kBoxHeight / 2 + 4, escape_markup(n.text));
  }
  return lines + boxes;
}

std::string document(double width, double height, const std::string& style,
                     const std::string& body) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\">\n{2}<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n{3}</svg>\n",
      width, height, style, body);
}

std::string trees_svg(const std::vector<PortraitTree>& trees) {
  double width = 0, height = 0;
  std::string body;
  for (const PortraitTree& tree : trees) {
    const Layout layout(tree);
    body += fmt::format("<g transform=\"translate(0 {:.1f})\">\n{}</g>\n", height,
                        tree_svg(tree, layout));
    width = std::max(width, 2 * kEdge + static_cast<double>(layout.leaves) * layout.box);
    height += static_cast<double>(layout.levels) * kLevelHeight + kEdge;
  }
  return document(width, height + kEdge,
                  "<style>\ntext { font: 12px \"DejaVu Sans\", Verdana, sans-serif; fill: #222; "
                  "text-anchor: middle }\n.way { fill: #777; font-size: 11px }\n"
                  ".paper { fill: #fff }\n.edge { stroke: #999; stroke-width: 1.2 }\n"
                  ".question { fill: #eaf1fb; stroke: #1f5fa8 }\n"
                  ".answer { fill: #f6f6f6; stroke: #888 }\n</style>\n",
                  body);
}

// Curves of one column, one for each class, as a plot.
Plot plot_of(const std::vector<const PortraitCurve*>& curves) {
  Plot plot;
  plot.title = plot.x_label = curves.front()->column;
  plot.subtitle = "what the column adds; the band is two standard deviations of the noise";
  plot.y_label = "added";
  for (const PortraitCurve::Point& p : curves.front()->points) {
    if (p.label.empty()) continue;
    plot.x_ticks.push_back(p.x);
    plot.x_names.push_back(p.label);
  }
  const bool categories = !plot.x_names.empty();
  for (std::size_t c = 0; c < curves.size(); ++c) {
    PlotSeries series{.label = curves[c]->of, .color = kColors[c % std::size(kColors)]};
    series.dots = series.apart = categories;
    const double beside =
        categories ? kBeside * (static_cast<double>(c) - static_cast<double>(curves.size() - 1) / 2)
                   : 0.0;
    for (const PortraitCurve::Point& p : curves[c]->points) {
      series.points.emplace_back(p.x + beside, p.value);
      series.band.push_back({p.x + beside, p.value - p.spread, p.value + p.spread});
    }
    plot.series.push_back(std::move(series));
  }
  return plot;
}

std::string curves_svg(const std::vector<PortraitCurve>& curves) {
  std::vector<std::vector<const PortraitCurve*>> columns;
  for (const PortraitCurve& curve : curves) {
    if (columns.empty() || columns.back().front()->column != curve.column) columns.emplace_back();
    columns.back().push_back(&curve);
  }
  std::string body;
  double height = 0, row = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::size_t across = i % kPlotsInARow;
    if (across == 0) height += row, row = 0;
    const Plot plot = plot_of(columns[i]);
    row = std::max(row, plot_height(plot));
    body += fmt::format("<g transform=\"translate({:.0f} {:.0f})\">\n{}</g>\n",
                        static_cast<double>(across) * kPlotWidth, height, to_svg(plot));
  }
  return document(static_cast<double>(std::min(kPlotsInARow, columns.size())) * kPlotWidth,
                  height + row, "<style>.paper { fill: #fff }</style>\n", body);
}

}  // namespace

std::string to_text(const Portrait& portrait) {
  std::string out;
  for (std::size_t t = 0; t < portrait.trees.size(); ++t) {
    const PortraitTree& tree = portrait.trees[t];
    if (portrait.trees.size() > 1) out += fmt::format("tree {}\n", t + 1);
    const std::function<void(std::size_t, const std::string&)> write =
        [&](std::size_t node, const std::string& indent) {
          const PortraitTree::Node& n = tree.nodes[node];
          if (!n.no || !n.yes) {
            out += n.text + "\n";
            return;
          }
          out += n.text + "?\n" + indent + "├─ yes: ";
          write(*n.yes, indent + "│  ");
          out += indent + "└─ no: ";
          write(*n.no, indent + "   ");
        };
    if (!tree.nodes.empty()) write(0, "");
  }
  return out;
}

std::string to_svg(const Portrait& portrait) {
  return portrait.trees.empty() ? curves_svg(portrait.curves) : trees_svg(portrait.trees);
}

}  // namespace sotto
