#include "commands/privacy_curve.hpp"

#include <fmt/format.h>

#include "sotto/accounting/account.hpp"
#include "sotto/core/rounded_text.hpp"
#include "sotto/report/svg_plot.hpp"

namespace sotto::cli {

std::vector<CurvePoint> privacy_curve(const Spec& spec, const AccountOptions& options,
                                      double largest, Context& context) {
  constexpr int kSteps = 48;
  std::vector<CurvePoint> curve;
  Progress progress(context.progress("curve", kSteps + 1));
  for (int i = 0; i <= kSteps; ++i) {
    const double epsilon = largest * i / kSteps;
    const Bound bound = delta(spec, epsilon, options);
    curve.push_back({epsilon, bound.upper, bound.lower});
    progress.advance(static_cast<std::uint64_t>(i) + 1);
  }
  progress.finish();
  return curve;
}

std::string curve_csv(const std::vector<CurvePoint>& curve) {
  std::string text = "epsilon,delta,delta_lower\n";
  for (const CurvePoint& p : curve) text += fmt::format("{},{},{}\n", p.epsilon, p.upper, p.lower);
  return text;
}

std::string curve_svg(const std::vector<CurvePoint>& curve, Relation relation, double epsilon,
                      double delta) {
  PlotSeries upper{.label = "upper bound", .color = "#1f5fa8"};
  PlotSeries lower{.label = "lower bound", .color = "#e08a1e", .dashed = true};
  for (const CurvePoint& p : curve) {
    upper.points.emplace_back(p.epsilon, p.upper);
    lower.points.emplace_back(p.epsilon, p.lower);
  }
  return to_svg(
      {.title = "Privacy profile",
       .subtitle = fmt::format("relation {}: every (ε, δ) on or above the upper curve holds",
                               name(relation)),
       .x_label = "ε",
       .y_label = "δ",
       .log_y = true,
       .series = {upper, lower},
       .mark = PlotPoint{epsilon, delta,
                         fmt::format("ε = {}, δ = {}", round_up(epsilon), round_up(delta, 3))}});
}

}  // namespace sotto::cli
