#include "sotto/report/utility_curve.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sotto/report/svg_plot.hpp"

namespace sotto::utility_curve_test {

using testing::HasSubstr;
using testing::Not;

UtilityReport example() {
  return {.title = "a <model>",
          .metric = "accuracy",
          .warning = "FOR PUBLIC DATA ONLY",
          .delta = 1e-5,
          .curves = {{"gradient", {{0.1, {0.6, 0.7}}, {1, {0.8, 0.82}}}},
                     {"objective", {{0.1, {0.5, 0.5}}, {1, {0.7, 0.8}}}}},
          .non_private = 0.85,
          .facts = {{"all runs together", "epsilon = 3"}}};
}

TEST(UtilityCurve, TableHasEveryRunAndTheBaseline) {
  EXPECT_EQ(utility_csv(example()),
            "method,epsilon,delta,repeat,accuracy\n"
            "gradient,0.1,1e-05,1,0.6\ngradient,0.1,1e-05,2,0.7\n"
            "gradient,1,1e-05,1,0.8\ngradient,1,1e-05,2,0.82\n"
            "objective,0.1,1e-05,1,0.5\nobjective,0.1,1e-05,2,0.5\n"
            "objective,1,1e-05,1,0.7\nobjective,1,1e-05,2,0.8\n"
            "none,,,1,0.85\n");
}

TEST(UtilityCurve, PictureHasACurveAndABandForEachMethodAndTheBaseline) {
  const std::string svg = utility_svg(example());
  for (const char* part :
       {"gradient", "objective", "without privacy", "<polygon", "FOR PUBLIC DATA ONLY",
        "stroke-dasharray", "prefers-color-scheme: dark"})
    EXPECT_THAT(svg, HasSubstr(part));
}

// Where the y of the first curve's points is drawn, by the circles.
std::vector<double> heights(const std::string& svg) {
  std::vector<double> result;
  for (std::size_t at = 0; (at = svg.find("<circle", at)) != std::string::npos; ++at)
    result.push_back(std::stod(svg.substr(svg.find("cy=\"", at) + 4)));
  return result;
}

TEST(UtilityCurve, ARunThatLearntNothingDoesNotFlattenTheOthers) {
  UtilityReport report = example();
  report.metric = "r2";
  report.curves = {{"gradient", {{0.1, {-500, -700}}, {1, {0.2}}, {3, {0.7}}}}};
  const std::vector<double> y = heights(utility_svg(report));
  ASSERT_EQ(y.size(), 3U);
  EXPECT_GT(y[1] - y[2], 100);  // pixels
  EXPECT_GT(y[0], 460);         // beyond the frame, which hides it
  report.metric = "log_loss";
  report.smaller_is_better = true;
  report.non_private = 0.3;
  report.curves = {{"gradient", {{0.1, {90, 400}}, {1, {0.9}}, {3, {0.4}}}}};
  const std::vector<double> loss = heights(utility_svg(report));
  EXPECT_GT(loss[2] - loss[1], 100);
}

TEST(UtilityCurve, TheLegendIsBelowTheDrawing) {
  const std::string svg = utility_svg(example());
  for (const char* name : {">gradient<", ">objective<", ">without privacy<"}) {
    const std::size_t text = svg.rfind("<text", svg.find(name));
    EXPECT_GT(std::stod(svg.substr(svg.find("y=\"", text) + 3)), 460) << name;
  }
}

TEST(UtilityCurve, PageEscapesItsTextsAndLoadsNothing) {
  const std::string html = utility_html(example());
  EXPECT_THAT(html, HasSubstr("a &lt;model&gt;"));
  EXPECT_THAT(html, HasSubstr("FOR PUBLIC DATA ONLY"));
  EXPECT_THAT(html, HasSubstr("all runs together"));
  for (const char* outside : {"<script", "src=", "href=", "@import", "url("})
    EXPECT_THAT(html, Not(HasSubstr(outside)));
}

TEST(Ticks, AreRoundNumbersInside) {
  EXPECT_EQ(linear_ticks(0, 10, 5), (std::vector<double>{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(linear_ticks(0.3, 1.1, 4), (std::vector<double>{0.4, 0.6000000000000001, 0.8, 1}));
  EXPECT_EQ(decade_ticks(-6.2, 0, 3), (std::vector<int>{0, -2, -4, -6}));
}

}  // namespace sotto::utility_curve_test
