#include "sotto/core/values.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace sotto::values_test {
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(Epsilon, RefusesWhatIsNotAPositiveFiniteNumber) {
  for (double bad : {0.0, -1.0, kNan, kInf}) EXPECT_THROW(Epsilon{bad}, InvalidArgument) << bad;
  EXPECT_EQ(Epsilon{0.5}.value(), 0.5);
}

TEST(Epsilon, SaysWhatItGotAndWhatIsAllowed) {
  try {
    Epsilon{-2};
    FAIL();
  } catch (const InvalidArgument& e) {
    EXPECT_STREQ(e.what(), "epsilon is -2; it must be a finite number above 0");
    EXPECT_FALSE(e.hint().empty());
  }
}

TEST(Delta, IsStrictlyBetweenZeroAndOne) {
  for (double bad : {0.0, 1.0, -1e-9, kNan, kInf}) EXPECT_THROW(Delta{bad}, InvalidArgument) << bad;
  EXPECT_EQ(Delta{1e-60}.value(), 1e-60);
}

TEST(Bounds, RefusesSwappedEqualAndInfiniteEnds) {
  EXPECT_THROW(Bounds(2, 1), InvalidArgument);
  EXPECT_THROW(Bounds(1, 1), InvalidArgument);
  EXPECT_THROW(Bounds(0, kInf), InvalidArgument);
  EXPECT_THROW(Bounds(kNan, 1), InvalidArgument);
  EXPECT_EQ(Bounds(-1, 1).upper(), 1);
}

TEST(Sensitivity, CarriesItsNorm) {
  EXPECT_EQ(Sensitivity(2, Norm::l2).norm(), Norm::l2);
  EXPECT_THROW(Sensitivity(0, Norm::l1), InvalidArgument);
}

}  // namespace sotto::values_test
