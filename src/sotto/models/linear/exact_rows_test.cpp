#include "sotto/models/linear/exact_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

#include "sotto/models/linear/detail/slope_kernels.hpp"
#include "sotto/models/linear/loss.hpp"

namespace sotto::exact_rows_test {

using Record = std::vector<float>;

std::vector<Record> random_records(std::size_t n, std::size_t d, double size, unsigned seed) {
  std::mt19937 rng(seed);
  std::normal_distribution<float> normal(0, static_cast<float>(size));
  std::vector<Record> records(n, Record(d));
  for (Record& r : records) std::generate(r.begin(), r.end(), [&] { return normal(rng); });
  return records;
}

ExactRows rows_of(const std::vector<Record>& records, double norm_bound = 1, double intercept = 1) {
  ExactRows rows(records.front().size(), norm_bound, intercept);
  for (std::size_t i = 0; i < records.size(); ++i) rows.add(records[i], i % 2 == 0 ? 1.0f : -1.0f);
  return rows;
}

// A slope that depends on the margin in a rough way, so that a margin off by one unit would show.
const ExactRows::Slopes kRough = [](std::span<const double> margins, std::size_t, std::size_t,
                                    std::span<double> out) {
  for (std::size_t i = 0; i < margins.size(); ++i) out[i] = std::sin(1e9 * margins[i]);
};

std::vector<double> parameters(std::size_t size) {
  std::mt19937 rng(5);
  std::normal_distribution<double> normal(0, 30);
  std::vector<double> theta(size);
  std::generate(theta.begin(), theta.end(), [&] { return normal(rng); });
  ExactRows::admit(theta, 1);
  return theta;
}

TEST(ExactRows, EveryRowIsInTheUnitBallExactly) {
  for (double size : {1e-30, 0.1, 1.0, 1e10, 1e18}) {
    const ExactRows rows = rows_of(random_records(200, 37, size, 1), 2.5);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      long double square = 0;
      for (float v : rows.row(i)) {
        square += static_cast<long double>(v) * v;
        EXPECT_EQ(v * 65536.0f, std::trunc(v * 65536.0f));
      }
      EXPECT_LE(square, 1.0L);
    }
  }
}

TEST(ExactRows, RecordsAddedAtOnceAreThoseAddedOneByOne) {
  std::vector<Record> records = random_records(3000, 21, 0.2, 7);
  records[17][3] = std::numeric_limits<float>::infinity();
  records[2999] = Record(21, 1e30f);
  const ExactRows one_by_one = rows_of(records, 0.8);
  for (const unsigned threads : {1u, 3u}) {
    ExactRows at_once(21, 0.8, 1);
    at_once.add(records[0], 1.0f);
    at_once.add_all(
        records.size() - 1,
        [&](std::size_t i, std::span<float> features) {
          std::copy(records[i + 1].begin(), records[i + 1].end(), features.begin());
          return (i + 1) % 2 == 0 ? 1.0f : -1.0f;
        },
        threads);
    ASSERT_EQ(at_once.size(), records.size());
    for (std::size_t i = 0; i < records.size(); ++i) {
      EXPECT_TRUE(std::ranges::equal(at_once.row(i), one_by_one.row(i))) << i;
      EXPECT_EQ(at_once.target(i), one_by_one.target(i));
    }
  }
}

TEST(ExactRows, MomentsOfChosenRowsAreThoseOfTheseRowsAlone) {
  const std::vector<Record> records = random_records(9000, 5, 0.3, 8);
  const ExactRows::Choice chosen = [](std::span<const float> row) { return row[0] > 0; };
  const ExactRows all = rows_of(records);
  ExactRows some(5, 1, 1);
  for (std::size_t i = 0; i < records.size(); ++i)
    if (chosen(all.row(i))) some.add(records[i], i % 2 == 0 ? 1.0f : -1.0f);
  const ExactRows::Moments a = all.moments(2, chosen), b = some.moments(1);
  EXPECT_GT(some.size(), 1000u);
  EXPECT_EQ(a.second, b.second);
  EXPECT_EQ(a.cross, b.cross);
}

// Neighbouring data sets share the slopes of the records they share only if a record's place plays
// no part.
TEST(ExactRows, TheSlopeOfARecordDoesNotDependOnItsPlace) {
  std::mt19937_64 rng(9);
  std::normal_distribution<double> normal(0, 8);
  std::vector<double> margins(1031), together(1031);
  std::vector<float> targets(margins.size());
  for (std::size_t i = 0; i < margins.size(); ++i) {
    margins[i] = normal(rng);
    targets[i] = i % 11 == 0 ? 0.0f : i % 2 == 0 ? 1.0f : -1.0f;
  }
  margins[5] = 4096, margins[6] = -4096, margins[7] = 0;
  detail::logistic_slopes(margins.data(), targets.data(), margins.size(), together.data());
  for (std::size_t i = 0; i < margins.size(); ++i) {
    double alone = 0;
    detail::logistic_slopes(&margins[i], &targets[i], 1, &alone);
    EXPECT_EQ(alone, together[i]) << i;
    EXPECT_NEAR(alone, loss_slope(Loss::logistic, margins[i], targets[i]), 0x1p-50) << i;
    double shifted[7];
    const std::size_t first = std::min(i, margins.size() - 7);
    detail::logistic_slopes(&margins[first], &targets[first], 7, shifted);
    EXPECT_EQ(shifted[i - first], together[i]) << i;
  }
}

TEST(ExactRows, OneSlopePerRecordIsClippedAndTruncated) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> slopes = {0.3, -0.3, 1.0, 7.0, -1e300, kNan, 1 / 0.0, -0x1p-21, 0.999999};
  detail::bound_slopes(slopes.data(), slopes.size(), 1, 20);
  const std::vector<double> expected = {314572, -314572, 1 << 20, 1 << 20, -(1 << 20),
                                        0,      0,       0,       1048574};
  EXPECT_EQ(slopes, expected);
}

TEST(ExactRows, LongRecordsAreScaledDownAndShortOnesKept) {
  ExactRows rows(2, 5, 0);
  rows.add(Record{3, 4}, 1);
  rows.add(Record{30, 40}, 1);
  rows.add(Record{0.3f, 0.4f}, 1);
  EXPECT_NEAR(rows.row(0)[0], 0.6, 1e-4);
  EXPECT_NEAR(rows.row(1)[1], 0.8, 1e-4);
  EXPECT_NEAR(rows.row(2)[0], 0.06, 1e-4);
}

TEST(ExactRows, ARecordThatIsNotFiniteContributesNothing) {
  ExactRows rows(2, 1, 1);
  rows.add(Record{std::numeric_limits<float>::quiet_NaN(), 0}, 1);
  rows.add(Record{std::numeric_limits<float>::infinity(), 0}, 1);
  rows.add(Record{0.5f, 0.5f}, std::numeric_limits<float>::quiet_NaN());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (float v : rows.row(i)) EXPECT_EQ(v, 0);
    EXPECT_EQ(rows.target(i), 0);
  }
}

TEST(ExactRows, SumsDoNotDependOnOrderOrThreads) {
  std::vector<Record> records = random_records(10000, 19, 0.3, 2);
  const std::vector<double> theta = parameters(20);
  const ExactRows::SlopeGrid grid{};
  const auto reference = rows_of(records).weighted_sum(theta, 1, kRough, grid, 1);
  std::shuffle(records.begin(), records.end(), std::mt19937(3));
  const ExactRows shuffled = rows_of(records);
  for (unsigned threads : {1u, 2u, 5u}) {
    EXPECT_EQ(shuffled.weighted_sum(theta, 1, kRough, grid, threads), reference);
    EXPECT_EQ(shuffled.moments(threads).second, rows_of(records).moments(1).second);
  }
}

TEST(ExactRows, RemovingOneRecordMovesTheSumByExactlyItsContribution) {
  const std::vector<Record> records = random_records(5000, 7, 0.5, 4);
  const std::vector<double> theta = parameters(8);
  const ExactRows::SlopeGrid grid{};
  const auto all = rows_of(records).weighted_sum(theta, 1, kRough, grid, 2);
  for (std::size_t removed : {0u, 1u, 4095u, 4096u, 4999u}) {
    std::vector<Record> fewer = records;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(removed));
    const auto rest = rows_of(fewer).weighted_sum(theta, 1, kRough, grid, 2);
    const auto alone = rows_of({records[removed]}).weighted_sum(theta, 1, kRough, grid, 1);
    long double square = 0;
    for (std::size_t j = 0; j < all.size(); ++j) {
      EXPECT_EQ(all[j] - rest[j], alone[j]);
      const long double v =
          static_cast<long double>(alone[j]) * static_cast<long double>(grid.unit());
      square += v * v;
    }
    EXPECT_LE(square, 1.0L);
  }
}

TEST(ExactRows, SlopesOfSeveralOutputsAreClippedToTheirNorm) {
  const ExactRows rows = rows_of({{0.9f, 0.1f}, {0.2f, -0.7f}}, 1, 0);
  const ExactRows::SlopeGrid grid{.norm = std::sqrt(2.0), .bits = 12};
  const ExactRows::Slopes large = [](std::span<const double>, std::size_t, std::size_t,
                                     std::span<double> out) {
    std::fill(out.begin(), out.end(), 1e30);
  };
  std::vector<double> theta(6, 0.0);
  const auto sum = rows.weighted_sum(theta, 3, large, grid, 1);
  long double square = 0;
  for (int128 v : sum) square += static_cast<long double>(v) * static_cast<long double>(v);
  EXPECT_LE(std::sqrt(square) * static_cast<long double>(grid.unit()), 2 * std::sqrt(2.0L));
  EXPECT_GT(std::sqrt(square) * static_cast<long double>(grid.unit()), 1.0L);
}

TEST(ExactRows, AdmittedParametersStayBelowTheLimit) {
  std::vector<double> theta = {1e300, -1e300, 3.3, std::numeric_limits<double>::quiet_NaN()};
  ExactRows::admit(theta, 1);
  double square = 0;
  for (double v : theta) {
    EXPECT_TRUE(std::isfinite(v));
    square += v * v;
  }
  EXPECT_LE(std::sqrt(square), ExactRows::kMaximalNorm);
}

TEST(ExactRows, MomentsMatchAPlainComputation) {
  const std::vector<Record> records = random_records(300, 4, 0.4, 6);
  const ExactRows rows = rows_of(records, 1, 0);
  const auto moments = rows.moments(2);
  std::size_t at = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = i; j < 4; ++j) {
      long double expected = 0;
      for (std::size_t r = 0; r < rows.size(); ++r)
        expected += static_cast<long double>(rows.row(r)[i]) * rows.row(r)[j];
      EXPECT_EQ(static_cast<double>(moments.second[at++]) * ExactRows::Moments::unit(),
                static_cast<double>(expected));
    }
  }
}

}  // namespace sotto::exact_rows_test
