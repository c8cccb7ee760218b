#include "sotto/models/synthesis/detail/perturbed_histogram.hpp"

#include <gtest/gtest.h>

#include "sotto/core/error.hpp"

namespace sotto::perturbed_histogram_test {

TEST(PerturbedHistogram, CleanedCountsSumToTheDeclaredNumber) {
  const auto cleaned = cleaned_counts({5.5, -3, 0.2, 10, 2.1}, 12);
  // 5.5 + 10 + 2.1 − 3·τ = 12 gives τ = 1.867 and 0.2 is gone.
  EXPECT_EQ(cleaned, (std::vector<std::uint64_t>{4, 0, 0, 8, 0}));
  EXPECT_EQ(cleaned_counts({1, 2, -1}, 100), (std::vector<std::uint64_t>{1, 2, 0}));
  EXPECT_EQ(cleaned_counts({-1, -2}, 5), (std::vector<std::uint64_t>{0, 0}));
}

TEST(PerturbedHistogram, RefusesWhatIsTooLargeAndBinsAreAsManyAsTheRecordsBear) {
  const PerturbedHistogram::Options options{
      .relation = Relation::add_remove, .budget = Budget::pure(1), .rows = 1000};
  EXPECT_THROW(PerturbedHistogram(options, 0x1p21), Unsupported);
  EXPECT_THROW(PerturbedHistogram(options, 1e300), Unsupported);
  EXPECT_THROW(
      PerturbedHistogram(
          {.relation = Relation::add_remove, .budget = Budget::approximate(1, 1e-6), .rows = 10},
          4),
      InvalidArgument);
  // 1000 records, noise √2: 353 cells, 18 × 18 of two numbers.
  EXPECT_EQ(
      PerturbedHistogram::bins(options, [](std::size_t b) { return static_cast<double>(b * b); }),
      18u);
  EXPECT_EQ(PerturbedHistogram::bins(options, [](std::size_t) { return 1e9; }), 2u);
}

}  // namespace sotto::perturbed_histogram_test
