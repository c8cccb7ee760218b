#include "sotto/learning/evaluation.hpp"

#include <gtest/gtest.h>

namespace sotto::evaluation_test {

TEST(AreaUnderCurve, CountsPairsAndHalvesTies) {
  EXPECT_DOUBLE_EQ(*area_under_curve({0, 4, 6, 7, 1, 2, 3, 5},
                                     {true, true, true, true, false, false, false, false}),
                   11.0 / 16);
  EXPECT_DOUBLE_EQ(*area_under_curve({1, 1}, {true, false}), 0.5);
  EXPECT_DOUBLE_EQ(*area_under_curve({2, 1}, {true, false}), 1);
  EXPECT_FALSE(area_under_curve({1, 2}, {true, true}).has_value());
}

TEST(Wilson, MatchesTheFormulaAtItsEnds) {
  const Interval none = wilson_95(0, 10), all = wilson_95(10, 10);
  EXPECT_NEAR(none.lower, 0, 1e-15);
  EXPECT_NEAR(none.upper, 0.2775, 1e-4);
  EXPECT_NEAR(all.lower, 0.7225, 1e-4);
  EXPECT_NEAR(all.upper, 1, 1e-15);
}

}  // namespace sotto::evaluation_test
