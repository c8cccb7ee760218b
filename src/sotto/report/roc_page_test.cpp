#include "sotto/report/roc_page.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace sotto::roc_page_test {

using testing::HasSubstr;
using testing::Not;

TEST(RocPage, TheClaimAllowsWhatTheDefinitionSays) {
  const RocClaim claim{1, 1e-5};
  EXPECT_NEAR(claim.most(0.01), std::exp(1.0) * 0.01 + 1e-5, 1e-12);
  EXPECT_NEAR(claim.most(0.9), 1 - std::exp(-1.0) * (0.1 - 1e-5), 1e-12);
  EXPECT_EQ(claim.most(1), 1);
  EXPECT_NEAR((RocClaim{0, 0}.most(0.3)), 0.3, 1e-12);
}

TEST(RocPage, DrawsEveryCurveAndEscapesWhatItIsGiven) {
  const RocReport report{
      .title = "logistic of <b>",
      .subtitle = "lira",
      .warning = "PRIVATE",
      .curves = {{"without privacy", {{0, 0}, {0.1, 0.9}, {1, 1}}, {"0.9 & more"}},
                 {"epsilon 1", {{0, 0}, {1, 1}}, {"0.5"}}},
      .claim = RocClaim{1, 0},
      .columns = {"area"},
      .facts = {{"attack", "lira"}}};
  const std::string svg = roc_svg(report), html = roc_html(report);
  for (const auto& text : {svg, html}) {
    EXPECT_THAT(text, HasSubstr("without privacy"));
    EXPECT_THAT(text, HasSubstr("most that ε = 1 allows"));
    EXPECT_THAT(text, HasSubstr("PRIVATE"));
    EXPECT_THAT(text, Not(HasSubstr("<b>")));
    EXPECT_THAT(text, Not(HasSubstr("NaN")));
    EXPECT_THAT(text, Not(HasSubstr("nan")));
  }
  EXPECT_THAT(html, HasSubstr("0.9 &amp; more"));
}

}  // namespace sotto::roc_page_test
