#include "sotto/report/portrait_drawing.hpp"

#include <gmock/gmock.h>

namespace sotto::portrait_drawing_test {

using testing::HasSubstr;
using testing::Not;

Portrait tree() {
  PortraitTree t;
  t.nodes = {{"age >= 40", 1, 2},
             {"no (90 %)", {}, {}},
             {"a < b & c = \"d\"", 3, 4},
             {"no (55 %)", {}, {}},
             {"yes (70 %)", {}, {}}};
  return {.trees = {t}};
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

TEST(PortraitDrawing, ATreeInWords) {
  EXPECT_EQ(to_text(tree()),
            "age >= 40?\n"
            "├─ yes: a < b & c = \"d\"?\n"
            "│  ├─ yes: yes (70 %)\n"
            "│  └─ no: no (55 %)\n"
            "└─ no: no (90 %)\n");
  EXPECT_EQ(to_text({}), "");
}

TEST(PortraitDrawing, ATreeAsPictureHasABoxForEachNodeAndNoMarkupFromNames) {
  const std::string svg = to_svg(tree());
  EXPECT_EQ(svg.rfind("<svg", 0), 0u);
  EXPECT_EQ(count(svg, "class=\"question\""), 2u);
  EXPECT_EQ(count(svg, "class=\"answer\""), 3u);
  EXPECT_EQ(count(svg, "class=\"edge\""), 4u);
  EXPECT_THAT(svg, HasSubstr("a &lt; b &amp; c"));
  EXPECT_THAT(svg, Not(HasSubstr("a < b")));
}

TEST(PortraitDrawing, CurvesOfOneColumnShareAPlotWithTheirBands) {
  Portrait portrait;
  for (const char* of : {"A", "B"})
    portrait.curves.push_back(
        {.column = "age", .of = of, .points = {{17, 0.1, 0.05}, {90, -0.2, 0.05}}});
  portrait.curves.push_back(
      {.column = "city", .of = "A", .points = {{0, 0.3, 0.1, "Turin"}, {1, -0.1, 0.1, "Milan"}}});
  const std::string svg = to_svg(portrait);
  EXPECT_EQ(count(svg, "<g transform=\"translate("), 2u);
  for (const char* name : {">Turin<", ">Milan<"}) EXPECT_EQ(count(svg, name), 1u) << name;
  EXPECT_EQ(count(svg, "<polygon"), 2u);        // bands of numbers
  EXPECT_EQ(count(svg, "stroke-opacity"), 2u);  // whiskers of categories, which no line joins
  EXPECT_EQ(count(svg, "class=\"curve\" stroke=\"#1f5fa8\" d="), 1u);
  EXPECT_EQ(count(svg, "<svg"), 5u);  // the page, two plots, and in each the frame of its curves
  EXPECT_EQ(count(svg, "</svg>"), 5u);
}

// Two lines of a legend are 40 high: the next row of plots stands below them.
TEST(PortraitDrawing, ALegendHasRoomOfItsOwn) {
  Portrait portrait;
  for (const char* column : {"a", "b", "c"})
    for (const char* of : {"1", "2", "3"})
      portrait.curves.push_back({.column = column, .of = of, .points = {{0, 0, 1}, {1, 1, 1}}});
  const std::string svg = to_svg(portrait);
  EXPECT_THAT(svg, HasSubstr("<g transform=\"translate(720 0)\">"));
  EXPECT_THAT(svg, HasSubstr("<g transform=\"translate(0 500)\">"));
}

TEST(PortraitDrawing, NamesOfManyCategoriesHaveRoom) {
  PortraitCurve curve{.column = "bucket", .of = "", .points = {}};
  for (int i = 0; i < 1000; ++i)
    curve.points.push_back({static_cast<double>(i), 0, 1, "number " + std::to_string(i)});
  curve.points[0].label = "äöüäöüäöüäöüäöü";
  const std::string svg = to_svg(Portrait{.curves = {curve}});
  EXPECT_THAT(svg, HasSubstr(">äöüäöüäöüäöüä…<"));
  const std::size_t names = count(svg, "rotate(-50)");
  EXPECT_GE(names, 20u);
  EXPECT_LE(names, 50u);
}

}  // namespace sotto::portrait_drawing_test
