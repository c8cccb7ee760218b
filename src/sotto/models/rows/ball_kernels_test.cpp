#include "sotto/models/rows/detail/ball_kernels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace sotto::detail::ball_kernels_test {

// As the header says it, one row and one centre at a time, in the precision of the kernel.
std::uint32_t plainly(const float* row, std::size_t width, const std::vector<float>& centres,
                      const std::vector<float>& offsets) {
  const std::size_t padded = offsets.size();
  std::uint32_t at = 0;
  float best = std::numeric_limits<float>::infinity();
  for (std::size_t c = 0; c < padded; ++c) {
    volatile float score = offsets[c];
    for (std::size_t j = 0; j < width; ++j) {
      volatile const float product = row[j] * centres[j * padded + c];
      score = score - product;
    }
    if (score < best) best = score, at = static_cast<std::uint32_t>(c);
  }
  return at;
}

// What each of 21 rows is told: the same alone, beside the others, and in plain words.
void expect_the_first_whatever_the_company(const std::vector<float>& rows, std::size_t width,
                                           const std::vector<float>& where,
                                           const std::vector<float>& offsets) {
  const std::size_t padded = offsets.size();
  std::vector<std::uint32_t> together(21);
  nearest_centres(rows.data(), 21, width, where.data(), offsets.data(), padded, together.data());
  for (std::size_t r = 0; r < 21; ++r) {
    std::uint32_t alone = 0;
    nearest_centres(rows.data() + r * width, 1, width, where.data(), offsets.data(), padded,
                    &alone);
    EXPECT_EQ(together[r], alone);
    EXPECT_EQ(alone, plainly(rows.data() + r * width, width, where, offsets));
  }
}

// Small whole numbers, so that many centres are equally near: the first of them is taken. And
// fractions, with centres that differ by a last bit here and there, so that roundings decide.
TEST(NearestCentres, IsTheFirstOfTheNearestWhateverTheCompany) {
  std::mt19937_64 random(1);
  std::normal_distribution<float> normal;
  for (const bool fractions : {false, true}) {
    for (const std::size_t width : {1u, 3u, 16u, 33u}) {
      for (const std::size_t centres : {1u, 7u, 8u, 9u, 30u}) {
        const std::size_t padded = (centres + 7) / 8 * 8;
        std::vector<float> rows(21 * width), where(width * padded),
            offsets(padded, std::numeric_limits<float>::infinity());
        for (float& x : rows) x = fractions ? normal(random) : static_cast<float>(random() % 5) - 2;
        for (float& x : where) x = static_cast<float>(random() % 3) - 1;
        for (std::size_t j = 0; fractions && j < width; ++j) {
          const float common = normal(random);
          for (std::size_t c = 0; c < padded; ++c)
            where[j * padded + c] =
                random() % 4 == 0 ? std::nextafter(common, random() % 2 == 0 ? 9.F : -9.F) : common;
        }
        for (std::size_t c = 0; c < centres; ++c)
          offsets[c] = fractions ? 0.3F : static_cast<float>(random() % 2);
        expect_the_first_whatever_the_company(rows, width, where, offsets);
      }
    }
  }
}

}  // namespace sotto::detail::ball_kernels_test
