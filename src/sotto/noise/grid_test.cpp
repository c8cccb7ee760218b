#include "sotto/noise/grid.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "sotto/core/error.hpp"

namespace sotto::grid_test {

TEST(Grid, GranularityPutsTheScaleBetweenTwoPowers) {
  for (double scale : {0x1p-900, 1e-9, 0.5, 1.0, 1.999, 2.0, 3e40, 0x1p900}) {
    const double g = granularity_for(scale);
    int exponent = 0;
    EXPECT_EQ(std::frexp(g, &exponent), 0.5);
    EXPECT_GE(scale / g, 0x1p39);
    EXPECT_LT(scale / g, 0x1p40);
  }
}

TEST(Grid, RefusesScalesAndSpacingsItCannotServe) {
  for (double scale : {0.0, -1.0, 0x1p901, 0x1p-901, HUGE_VAL, std::nan("")})
    EXPECT_THROW(granularity_for(scale), InvalidArgument);
  for (double g : {0.0, -1.0, 3.0, 0.1, HUGE_VAL, std::nan(""), 0x1p-1074})
    EXPECT_THROW(to_grid(1, g), InvalidArgument);
  EXPECT_THROW(to_grid(std::nan(""), 1), InvalidArgument);
}

TEST(Grid, RoundsToTheNearestPointAndHalvesUp) {
  for (auto [x, n] : {std::pair{0.0, 0},
                      {0.49, 0},
                      {0.5, 1},
                      {1.5, 2},
                      {2.5, 3},
                      {-0.5, 0},
                      {-0.51, -1},
                      {-1.5, -1},
                      {-2.5, -2},
                      {7.0, 7},
                      {0.49999999999999994, 0},
                      {1e-300, 0},
                      {-1e-300, 0}}) {
    EXPECT_EQ(static_cast<int>(to_grid(x, 1)), n) << x;
    EXPECT_EQ(static_cast<int>(to_grid(x * 0x1p-30, 0x1p-30)), n) << x;
  }
}

TEST(Grid, ComesBackExactly) {
  for (double x : {0.0, 1.0, -3.25, 1e15, -0x1.fffffffffffffp60})
    EXPECT_EQ(from_grid(to_grid(x, 0x1p-20), 0x1p-20), x);
}

TEST(Grid, SaturatesFarOutside) {
  const int128 limit = static_cast<int128>(1) << 100;
  EXPECT_TRUE(to_grid(HUGE_VAL, 1) == limit);
  EXPECT_TRUE(to_grid(-HUGE_VAL, 1) == -limit);
  EXPECT_TRUE(to_grid(0x1p101, 1) == limit);
  EXPECT_TRUE(to_grid(std::numeric_limits<double>::max(), 0x1p-900) == limit);
}

TEST(Grid, RoundingIsMonotoneAndMovesNeighboursAtMostTheDeclaredSensitivityApart) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> place(-1000, 1000), distance(0, 8);
  for (int i = 0; i < 100000; ++i) {
    const double a = place(random), b = a + distance(random);
    const auto steps = static_cast<double>(to_grid(b, 0.25) - to_grid(a, 0.25));
    EXPECT_GE(steps, 0);
    EXPECT_LE(steps, grid_sensitivity(b - a, 0.25, Norm::l1, 1));
  }
}

TEST(Grid, AQueryThatLiesOnTheGridPaysNothingForRounding) {
  EXPECT_EQ(grid_sensitivity(1, 0x1p-40, Norm::l1, 1), 0x1p40);
  EXPECT_EQ(grid_sensitivity(3, 1, Norm::linf, 10), 3);
  EXPECT_EQ(grid_sensitivity(0, 1, Norm::l2, 10), 0);
}

TEST(Grid, VectorsPayOneStepPerCoordinateAtMost) {
  EXPECT_GE(grid_sensitivity(2, 1, Norm::l1, 10), 12);
  EXPECT_LT(grid_sensitivity(2, 1, Norm::l1, 10), 12.0001);
  EXPECT_GE(grid_sensitivity(2, 1, Norm::l2, 9), 5);
  EXPECT_LT(grid_sensitivity(2, 1, Norm::l2, 9), 5.0001);
  std::mt19937_64 random(2);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 20000; ++i) {
    double exact = 0, rounded = 0;
    for (int j = 0; j < 5; ++j) {
      const double a = 10 * normal(random), b = a + normal(random);
      exact += (a - b) * (a - b);
      const auto steps = static_cast<double>(to_grid(a, 1) - to_grid(b, 1));
      rounded += steps * steps;
    }
    EXPECT_LE(std::sqrt(rounded), grid_sensitivity(std::sqrt(exact) * (1 + 1e-12), 1, Norm::l2, 5));
  }
}

}  // namespace sotto::grid_test
