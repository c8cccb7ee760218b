#include "sotto/deep/rows/axis.hpp"

#include <gtest/gtest.h>

namespace sotto::deep::rows::axis_test {

TEST(RecordAxis, IsFoundFromGeometry) {
  const auto find = [](std::vector<std::int64_t> sizes, std::vector<std::int64_t> strides,
                       std::int64_t offset = 0, std::int64_t item = 1) {
    return find_axis({sizes, strides, offset, item}, {.run = 6}, 4);
  };
  EXPECT_EQ(find({4, 6}, {6, 1}), (Axis{0, 1, 1}));
  EXPECT_EQ(find({6, 4}, {1, 6}), (Axis{1, 1, 1})) << "transposed";
  EXPECT_EQ(find({8, 3}, {3, 1}), (Axis{0, 1, 2})) << "B·T";
  EXPECT_EQ(find({8, 6}, {6, 1}), (Axis{0, 2, 1})) << "T·B";
  EXPECT_EQ(find({24}, {1}), (Axis{0, 1, 6}));
  EXPECT_EQ(find({4, 2}, {6, 2}, 1), (Axis{0, 1, 1})) << "columns";
  EXPECT_EQ(find({4, 2}, {6, 1}, 4), (Axis{0, 1, 1}));
  EXPECT_EQ(find({4, 3}, {6, 2}, 0, 1), (Axis{0, 1, 1}));
  EXPECT_EQ(find({4, 3}, {3, 1}, 0, 2), (Axis{0, 1, 1})) << "another type";
  EXPECT_EQ(find({5, 4, 6}, {0, 6, 1}), (Axis{1, 1, 1})) << "expanded";
  EXPECT_EQ(find({0, 6}, {6, 1}), kPublic) << "nothing in it";
  EXPECT_FALSE(find({3, 6}, {6, 1})) << "cut";
  EXPECT_FALSE(find({6}, {1})) << "one record";
  EXPECT_FALSE(find({4, 6}, {6, 1}, 6)) << "shifted by a row";
  EXPECT_FALSE(find({4, 6}, {6, 1}, 3)) << "shifted by half a row";
  EXPECT_FALSE(find({6, 4}, {4, 1})) << "mixed";
  EXPECT_FALSE(find({2, 12}, {12, 1})) << "two records in one row";
  EXPECT_FALSE(find({4, 6}, {0, 1})) << "one record for all";
  EXPECT_FALSE(find({4, 6}, {5, 1})) << "overlapping";
  EXPECT_FALSE(find({2, 6}, {12, 1})) << "every second record";
}

}  // namespace sotto::deep::rows::axis_test
