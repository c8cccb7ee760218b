#include "sotto/core/nearest_name.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace sotto::nearest_name_test {

TEST(NearestName, TwoSwappedLettersAreOneEdit) {
  const std::vector<std::string> known = {"age", "gender", "agree"};
  EXPECT_EQ(nearest_name("aeg", known), "age");
  EXPECT_EQ(nearest_name("gedner", known), "gender");
  // One swap, against two changes of the name that comes first.
  const std::vector<std::string> close = {"abxy", "bacd"};
  EXPECT_EQ(nearest_name("abcd", close), "bacd");
}

TEST(NearestName, NothingIsBetterThanSomethingFar) {
  const std::vector<std::string> known = {"income"};
  EXPECT_EQ(nearest_name("zzzzzz", known), "");
  EXPECT_EQ(nearest_name("INCOME", known), "income");
}

}  // namespace sotto::nearest_name_test
