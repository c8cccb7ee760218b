#include "sotto/data/date.hpp"

#include <gtest/gtest.h>

#include "sotto/core/error.hpp"
#include "sotto/data/encoder.hpp"

namespace sotto::date_test {

TEST(Date, IsReadInEveryOrder) {
  const auto leap = parse_date("2024-02-29", DateOrder::year_first);
  ASSERT_TRUE(leap);
  EXPECT_EQ(date_text(leap->day), "2024-02-29");
  EXPECT_EQ(parse_date("29.02.2024", DateOrder::day_first)->day, leap->day);
  EXPECT_EQ(parse_date(" 2/29/2024 ", DateOrder::month_first)->day, leap->day);
  EXPECT_EQ(parse_date("1970-01-01", DateOrder::year_first)->day, 0);
  EXPECT_EQ(parse_date("1969-12-31T18:00:00Z", DateOrder::year_first)->time, 0.75);
  EXPECT_EQ(parse_date("2024-02-29 06:00:00.000+01:00", DateOrder::year_first)->time, 0.25);
  EXPECT_EQ(parse_time("12:00")->time, 0.5);
}

TEST(Date, RefusesWhatIsNone) {
  for (const char* cell : {"", "2023-02-29", "2024-13-01", "2024-1", "24-01-01", "2024-01.01",
                           "2024-01-01x", "2024-01-01 25:00", "2024-01-01T", "0000-01-01", "today",
                           "2024-01-01 12:00+", "2024-01-01 12:0"})
    EXPECT_FALSE(parse_date(cell, DateOrder::year_first)) << cell;
  for (const char* cell : {"", "24:00", "12", "12:60", "12:00:61", "noon"})
    EXPECT_FALSE(parse_time(cell)) << cell;
}

TEST(Date, HasParts) {
  const DateTime m = *parse_date("2024-03-01 18:30", DateOrder::year_first);  // a Friday
  EXPECT_EQ(part_of(m, DatePart::year), 2024);
  EXPECT_EQ(part_of(m, DatePart::month), 3);
  EXPECT_EQ(part_of(m, DatePart::weekday), 4);
  EXPECT_EQ(part_of(m, DatePart::day_of_year), 61);
  EXPECT_DOUBLE_EQ(part_of(m, DatePart::time_of_day), 18.5);
}

Encoder encoder_of(const std::string& columns) {
  return Encoder(Schema::from_toml("relation = \"add_remove\"\n" + columns));
}

TEST(DateColumn, BecomesNumbersAndCategories) {
  const Encoder e = encoder_of(
      "[columns.d]\ntype = \"date\"\nbounds = [\"2020-01-01\", \"2020-01-11\"]\n"
      "[columns.t]\ntype = \"time\"\n");
  ASSERT_EQ(e.features().size(), 4U);
  EXPECT_EQ(e.width(), 1U + 12 + 7 + 1);
  EXPECT_EQ(e.feature_names()[0], "d.elapsed");
  EXPECT_EQ(e.feature_names()[1], "d.month=1");
  EXPECT_LE(e.norm_bound(), 2.0000001);
  std::vector<double> dense(2);
  std::vector<std::uint32_t> hot(2);
  std::size_t column = 0;
  const auto encode = [&](std::string_view d, std::string_view t) {
    const std::string_view cells[] = {d, t};
    return e.encode(cells, dense, hot, column);
  };
  encode("2020-01-06", "12:00");
  EXPECT_EQ(dense, (std::vector<double>{0, 0}));
  EXPECT_EQ(e.feature_names()[hot[0]], "d.month=1");
  EXPECT_EQ(e.feature_names()[hot[1]], "d.weekday=monday");
  encode("1999-12-31", "00:00");  // clamped
  EXPECT_EQ(dense, (std::vector<double>{-1, -1}));
  EXPECT_THROW(encode("31.12.1999", "00:00"), CellRefused);
  EXPECT_EQ(column, 0U);
  EXPECT_THROW(encode("1999-12-31", "later"), CellRefused);
  EXPECT_EQ(column, 1U);
}

TEST(DateColumn, SurvivesItsOwnText) {
  const Schema schema = Schema::from_toml(
      "relation = \"add_remove\"\n[columns.d]\ntype = \"date\"\norder = \"day_first\"\n"
      "parts = [\"year\", \"time_of_day\", \"elapsed\"]\nsince = \"2000-01-01\"\n"
      "bounds = [\"1990-05-01\", \"2020-01-11\"]\nmissing = \"midpoint\"\ninvalid = \"missing\"\n"
      "[columns.words]\ntype = \"text\"\nrole = \"feature\"\nbuckets = 16\nwords = 2\n");
  EXPECT_EQ(Schema::from_toml(schema.to_toml()), schema);
  const Encoder e(schema);
  EXPECT_EQ(e.features()[2].column().bounds->lower(), -3532);  // days before `since`
  const std::string_view none[] = {"?", ""};
  std::vector<double> dense(3 + 16);
  std::size_t column = 0;
  EXPECT_EQ(e.encode(none, dense, {}, column), 1);
  EXPECT_EQ(dense, std::vector<double>(19));
}

TEST(DateColumn, NeedsItsBoundsDeclared) {
  EXPECT_THROW(encoder_of("[columns.d]\ntype = \"date\"\n"), DataError);
  EXPECT_THROW(encoder_of("[columns.d]\ntype = \"date\"\nparts = [\"hour\"]\n"), DataError);
  EXPECT_THROW(encoder_of("[columns.d]\ntype = \"date\"\nbounds = [2010, 2020]\n"), DataError);
  EXPECT_THROW(encoder_of("[columns.d]\ntype = \"date\"\nrole = \"target\"\n"), DataError);
  EXPECT_EQ(encoder_of("[columns.d]\ntype = \"date\"\nparts = [\"month\"]\n").width(), 12U);
}

TEST(ColumnRange, StandsForColumnsThatAreAlike) {
  const Schema schema = Schema::from_toml(
      "relation = \"add_remove\"\n[columns.\"p{1..784}\"]\ntype = \"numeric\"\n"
      "bounds = [0, 255]\n[columns.y]\ntype = \"boolean\"\nrole = \"target\"\n");
  ASSERT_EQ(schema.columns.size(), 785U);
  EXPECT_EQ(schema.columns[0].name, "p1");
  EXPECT_EQ(schema.columns[783].name, "p784");
  EXPECT_EQ(schema.columns[783].bounds->upper(), 255);
  const auto problem = [](const std::string& name) {
    return schema_problems("relation = \"add_remove\"\n[columns.\"" + name +
                           "\"]\ntype = \"boolean\"\n[columns.p3]\ntype = \"boolean\"\n");
  };
  EXPECT_TRUE(problem("q{1..3}").empty());
  EXPECT_EQ(problem("p{1..3}").size(), 1U);  // p3 twice
  EXPECT_EQ(problem("p{3..1}").size(), 1U);
  EXPECT_EQ(problem("p{1..9999999999}").size(), 1U);
  EXPECT_TRUE(problem("p{a..b}").empty());  // a name like any
}

}  // namespace sotto::date_test
