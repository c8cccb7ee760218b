#include "sotto/models/linear/detail/coded_rows.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "sotto/learning/facts.hpp"
#include "sotto/models/linear/detail/noisy_gradient.hpp"
#include "sotto/models/linear/exact_rows.hpp"

namespace sotto::coded_rows_test {

Facts mixed_facts(const std::string& more = "basis = \"hats\"\n") {
  return table_facts(
      Schema::from_toml("relation = \"zero_out\"\nrows = 3000\n" + more +
                        "[columns.a]\ntype = \"numeric\"\nbounds = [-2, 2]\n"
                        "[columns.b]\ntype = \"numeric\"\nbounds = [17, 90]\n"
                        "[columns.c]\ntype = \"categorical\"\nvalues = [\"x\", \"y\", \"z\"]\n"
                        "[columns.d]\ntype = \"boolean\"\nmissing = \"midpoint\"\n"
                        "[columns.y]\ntype = \"boolean\"\nrole = \"target\"\n"));
}

Table mixed_table(const Facts& facts, std::size_t rows) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(-1, 1);
  Table table(*facts.encoder);
  for (std::size_t i = 0; i < rows; ++i) {
    const Table::Sink sink = table.add_row();
    sink.dense[0] = std::pow(uniform(random), 3);
    sink.dense[1] = i % 50 == 0 ? 1.0 : uniform(random);
    sink.dense[2] = static_cast<double>(i % 3) / 2;
    sink.hot[0] += static_cast<std::uint32_t>(i % 4);
    if (i % 100 == 99) sink.factor = NAN;
    table.add_target(i % 100 == 99 ? 0.0 : static_cast<double>(i % 2));
  }
  return table;
}

float plus_minus(double target) { return static_cast<float>(2 * target - 1); }

ExactRows dense_rows(const Table& table) {
  ExactRows rows(table.encoder().width(), table.encoder().norm_bound(), 1);
  std::vector<float> row(table.width());
  for (std::size_t i = 0; i < table.rows(); ++i) {
    table.row(i, row);
    rows.add(row, plus_minus(table.targets()[i]));
  }
  return rows;
}

// Whatever levels a record has, its row stays in the unit ball: in integers, without rounding.
TEST(CodeBook, LevelsOfAllColumnsTogetherHaveNormOneAtMost) {
  for (const char* more : {"basis = \"hats\"\n", "basis = \"hats\"\nscaling = \"unit\"\n", ""}) {
    const Facts facts = mixed_facts(more);
    const CodeBook book(*facts.encoder, 1, 1 / std::hypot(facts.encoder->norm_bound(), 1));
    std::int64_t worst = 0;
    for (std::size_t c = 0; c < book.columns(); ++c) {
      std::int64_t largest = 0;
      for (std::size_t l = 0; l < book.column(c).levels; ++l) {
        std::int64_t square = 0;
        for (const CodeBook::Entry& e : book.entries(book.column(c).first + l))
          square += std::int64_t{e.value} * e.value;
        largest = std::max(largest, square);
      }
      worst += largest;
    }
    EXPECT_LE(worst, std::int64_t{1} << 32);
    EXPECT_GT(worst, (std::int64_t{1} << 32) / 2);  // and not far below it
    for (std::size_t c = 0; c < book.columns(); ++c)
      EXPECT_TRUE(book.entries(book.column(c).first).empty());  // null
  }
}

TEST(CodeBook, NumbersMoveByLittle) {
  const Facts facts = mixed_facts();
  const CodeBook book(*facts.encoder, 1, 1);
  for (const std::size_t c : {0, 1}) {
    for (int i = 0; i <= 10000; ++i) {
      const double t = -1 + i / 5000.0;
      const CodeBook::Column& column = book.column(c);
      const std::size_t level = column.level(t);
      ASSERT_GE(level, 1U);
      ASSERT_LT(level, column.levels);
      const double off = std::fabs(t - column.center) / column.reach;
      EXPECT_LE(std::fabs(column.value(level) - t) / column.reach, (off + 0.001) / 127 + 1e-6);
    }
  }
}

// Tables of bent numbers alone are coded a record at a time.
TEST(CodeBook, RecordsOfNumbersHaveTheLevelsOfTheirColumns) {
  for (const char* scaling : {"", "scaling = \"unit\"\n"}) {
    const Facts facts = table_facts(Schema::from_toml(
        "relation = \"zero_out\"\nrows = 300\nbasis = \"hats\"\n" + std::string(scaling) +
        "[columns.\"x{0..4}\"]\ntype = \"numeric\"\nbounds = [-1, 3]\n"
        "[columns.y]\ntype = \"boolean\"\nrole = \"target\"\n"));
    const CodeBook book(*facts.encoder, 1, 0.1);
    const double low = *scaling == 0 ? -1 : 0;
    std::mt19937_64 random(5);
    std::uniform_real_distribution<double> uniform(low, 1);
    Table table(*facts.encoder);
    for (std::size_t i = 0; i < 300; ++i) {
      const Table::Sink sink = table.add_row();
      for (double& v : sink.dense) v = i == 0 ? low : i == 1 ? 1 : uniform(random);
      if (i == 2) sink.factor = NAN;
      table.add_target(0);
    }
    std::vector<std::uint16_t> levels(book.columns());
    ASSERT_EQ(levels.size(), 6U);
    for (std::size_t i = 0; i < table.rows(); ++i) {
      book.write(table, i, levels);
      for (std::size_t c = 0; c < levels.size(); ++c) {
        const CodeBook::Column& column = book.column(c);
        const std::size_t own = i == 2 ? 0 : c == 5 ? 1 : column.level(table.dense(i)[c]);
        EXPECT_EQ(levels[c], column.first + own);
      }
    }
  }
}

TEST(CodedRows, SumAsTheDenseRowsOfTheirLevelsDo) {
  const Facts facts = mixed_facts();
  const Table table = mixed_table(facts, 3000);
  CodedRows coded(*facts.encoder, 1), other(coded, nullptr);
  coded.add_all(table, plus_minus, 2);
  other.add_all(table, plus_minus, 1);
  const ExactRows dense = dense_rows(table);
  std::vector<double> theta(coded.dimension());
  for (std::size_t j = 0; j < theta.size(); ++j) theta[j] = std::sin(static_cast<double>(j));
  GradientRows::admit(theta, 1);
  const GradientRows::SlopeGrid grid{.norm = 1, .bits = 20};
  const auto sum = [&](const GradientRows& rows, unsigned threads) {
    return rows.weighted_sum(theta, 1, slopes_of(Loss::logistic, 1, rows), grid, threads);
  };
  EXPECT_EQ(sum(coded, 1), sum(other, 2));  // to the bit
  const auto a = sum(coded, 1), b = sum(dense, 1);
  for (std::size_t j = 0; j < a.size(); ++j)  // levels are close to the numbers
    EXPECT_NEAR(static_cast<double>(a[j]) * grid.unit(), static_cast<double>(b[j]) * grid.unit(),
                3000 * 0.002);
  EXPECT_EQ(coded.second_moments(1, 1), other.second_moments(1, 2));
  const auto s = coded.second_moments(1, 1), m = dense.second_moments(1, 1);
  double difference = 0, whole = 0;
  for (std::size_t j = 0; j < s.size(); ++j) {
    difference += std::fabs(static_cast<double>(s[j] - m[j]));
    whole += std::fabs(static_cast<double>(m[j]));
  }
  EXPECT_LT(difference, 0.1 * whole);  // coarse levels
}

// One record more moves the sums by a vector of norm 1 at most, a null record by nothing.
TEST(CodedRows, OneRecordMovesASumByItsSlopeAtMost) {
  const Facts facts = mixed_facts();
  const Table table = mixed_table(facts, 400);
  std::vector<double> theta(facts.encoder->width() + 1, 0.25);
  GradientRows::admit(theta, 1);
  const GradientRows::SlopeGrid grid{.norm = 1, .bits = 20};
  const auto of = [&](std::size_t rows) {
    Table part(*facts.encoder);
    part.append(table, 0, rows);
    CodedRows coded(*facts.encoder, 1);
    coded.add_all(part, plus_minus, 1);
    return std::pair(coded.weighted_sum(theta, 1, slopes_of(Loss::logistic, 1, coded), grid, 1),
                     coded.second_moments(1, 1));
  };
  auto before = of(0);
  for (std::size_t rows = 1; rows <= 400; ++rows) {
    auto after = of(rows);
    double first = 0, second = 0;
    for (std::size_t j = 0; j < theta.size(); ++j)
      first += std::pow(static_cast<double>(after.first[j] - before.first[j]) * grid.unit(), 2);
    std::size_t at = 0;
    for (std::size_t i = 0; i < theta.size(); ++i) {
      for (std::size_t j = i; j < theta.size(); ++j, ++at) {
        const double moved = static_cast<double>(after.second[at] - before.second[at]) * 0x1p-32;
        second += (i == j ? 1 : 2) * moved * moved;
      }
    }
    EXPECT_LE(first, 1.0);
    EXPECT_LE(second, 1.0);
    if (rows % 100 == 0) {
      EXPECT_EQ(before, after);
    }
    before = std::move(after);
  }
}

TEST(CodeBook, IsNotForRowsThatAreNoSumOverColumns) {
  EXPECT_TRUE(CodeBook::fits(*mixed_facts().encoder));
  EXPECT_FALSE(CodeBook::fits(*mixed_facts("basis = \"hats\"\nfeature_norm = 1\n").encoder));
  EXPECT_FALSE(CodeBook::fits(*mixed_facts("basis = \"linear\"\n").encoder));  // as many columns
}

}  // namespace sotto::coded_rows_test
