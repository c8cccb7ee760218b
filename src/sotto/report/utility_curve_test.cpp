#include "sotto/report/utility_curve.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sotto/report/svg_plot.hpp"

namespace sotto {
namespace {

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

}  // namespace
}  // namespace sotto
