#include "sotto/models/rows/detail/product_sums.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "sotto/models/rows/detail/ball_kernels.hpp"

namespace sotto::detail::product_sums_test {

std::vector<std::int64_t> sums_of(const std::vector<std::vector<float>>& rows, std::size_t width) {
  ProductSums sums(width);
  for (const std::vector<float>& row : rows) sums.add(row.data());
  sums.finish();
  std::vector<std::int64_t> all;
  for (std::size_t i = 0; i < width; ++i)
    for (std::size_t j = i; j < width; ++j)
      all.push_back(static_cast<std::int64_t>(sums.sum(i, j)));
  return all;
}

// Whole numbers of the ball, any width and any number of rows: integer sums to the last bit, in any
// order of the rows.
TEST(ProductSums, AreIntegerSumsInAnyOrder) {
  std::mt19937_64 random(1);
  for (const std::size_t width : {1u, 7u, 8u, 9u, 130u, 137u}) {
    for (const std::size_t count : {0u, 1u, 255u, 256u, 257u, 600u}) {
      std::vector<std::vector<float>> rows(count, std::vector<float>(width));
      std::vector<std::int64_t> expected(width * (width + 1) / 2);
      for (std::vector<float>& row : rows) {
        for (float& v : row) v = static_cast<float>(static_cast<int>(random() % 131073) - 65536);
        for (std::size_t i = 0, at = 0; i < width; ++i)
          for (std::size_t j = i; j < width; ++j, ++at)
            expected[at] += static_cast<std::int64_t>(row[i]) * static_cast<std::int64_t>(row[j]);
      }
      EXPECT_EQ(sums_of(rows, width), expected);
      std::shuffle(rows.begin(), rows.end(), random);
      EXPECT_EQ(sums_of(rows, width), expected);
    }
  }
}

// The lengths of rows: sixteen partial sums, every product and sum rounded by itself.
TEST(BallKernels, DistancesAndStepsAreThoseOfPlainLoops) {
  std::mt19937_64 random(2);
  std::normal_distribution<double> normal;
  for (const std::size_t width : {1u, 7u, 8u, 9u, 16u, 33u, 47u}) {
    std::vector<float> row(width), steps(width);
    std::vector<double> centre(width);
    for (float& v : row) v = static_cast<float>(normal(random));
    for (double& v : centre) v = normal(random);
    volatile double lanes[16] = {};
    const auto add = [&](std::size_t lane, std::size_t j) {
      volatile const double e = static_cast<double>(row[j]) - centre[j];
      volatile const double square = e * e;
      lanes[lane] = lanes[lane] + square;
    };
    const std::size_t even = width / 16 * 16;
    for (std::size_t j = 0; j < even; ++j) add(j % 16, j);
    for (std::size_t l = 0; l < 8; ++l) lanes[l] = lanes[l] + lanes[l + 8];
    for (std::size_t j = even; j < width; ++j) add(j % 8, j);
    double sum = 0;
    for (std::size_t l = 0; l < 8; ++l) sum += lanes[l];
    EXPECT_EQ(squared_distance(row.data(), centre.data(), width), sum);
    const double factor = 65536 / std::sqrt(sum);
    double exact = 0;
    const double answer = truncated_steps(row.data(), centre.data(), width, factor, steps.data());
    for (std::size_t j = 0; j < width; ++j) {
      volatile const double scaled = (static_cast<double>(row[j]) - centre[j]) * factor;
      EXPECT_EQ(static_cast<double>(steps[j]), std::trunc(scaled));
      exact += static_cast<double>(steps[j]) * static_cast<double>(steps[j]);
    }
    EXPECT_EQ(answer, exact);
  }
}

}  // namespace sotto::detail::product_sums_test
