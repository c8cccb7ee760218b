#include "sotto/mechanisms/detail/rounding.hpp"

#include <gtest/gtest.h>

#include <boost/multiprecision/cpp_bin_float.hpp>

#include "sotto/mechanisms/hostile_data_test.hpp"

namespace sotto::detail::rounding_test {

using Big = boost::multiprecision::cpp_bin_float_100;

TEST(Rounding, ErrsOnTheStatedSideByAtMostOneUnitInTheLastPlace) {
  Rng pick = Rng::insecure_seed(1);
  for (int i = 0; i < 20000; ++i) {
    const int range = i % 2 == 0 ? 60 : 900;  // also beyond where errors are trusted
    const double a =
        std::ldexp(1 + test::uniform(pick), static_cast<int>(pick.next_u64() % range) - range / 2);
    const double b =
        std::ldexp(1 + test::uniform(pick), static_cast<int>(pick.next_u64() % range) - range / 2);
    const Big x = a, y = b, root = sqrt(x);
    auto above = [](double got, const Big& truth) {
      return Big(got) >= truth && Big(down(down(got))) < truth;
    };
    auto below = [](double got, const Big& truth) {
      return Big(got) <= truth && Big(up(up(got))) > truth;
    };
    ASSERT_TRUE(above(add_up(a, b), x + y));
    ASSERT_TRUE(above(multiply_up(a, b), x * y));
    ASSERT_TRUE(below(multiply_down(a, b), x * y));
    ASSERT_TRUE(above(divide_up(a, b), x / y));
    ASSERT_TRUE(below(divide_down(a, b), x / y));
    ASSERT_TRUE(above(sqrt_up(a), root));
    ASSERT_TRUE(below(sqrt_down(a), root));
  }
}

TEST(Rounding, LeavesExactResultsAlone) {
  EXPECT_EQ(add_up(1, 2), 3);
  EXPECT_EQ(multiply_up(3, 0.5), 1.5);
  EXPECT_EQ(multiply_down(3, 0.5), 1.5);
  EXPECT_EQ(divide_up(1, 0.5), 2);
  EXPECT_EQ(divide_down(3, 4), 0.75);
  EXPECT_EQ(sqrt_up(9), 3);
  EXPECT_EQ(sqrt_down(0.25), 0.5);
  EXPECT_EQ(add_up(0x1p-60, 1), up(1.0));
}

}  // namespace sotto::detail::rounding_test
