#include "sotto/ledger/period.hpp"

#include <gtest/gtest.h>

#include "sotto/core/error.hpp"

namespace sotto::ledger::period_test {

TEST(Period, DaysAndSecondsAreReadAndWritten) {
  EXPECT_EQ(parse_time("1970-01-02"), 86400000);
  EXPECT_EQ(parse_time("2027-1-2"), parse_time("2027-01-02"));
  EXPECT_EQ(parse_time("2027-01-31T12:00:01Z"), 1801396801000);
  EXPECT_EQ(iso_time(1801396801999), "2027-01-31T12:00:01Z");
  EXPECT_EQ(iso_day(parse_time("2028-02-29")), "2028-02-29");
  EXPECT_EQ(iso_time(-1), "1969-12-31T23:59:59Z");
}

TEST(Period, WhatIsNoDayIsRefused) {
  for (const char* text :
       {"", "2027", "2027-02-29", "2027-13-01", "2027-01-01 ", "2027-01-01T24:00:00Z",
        "2027-01-01T00:00:00", "yesterday", "2027-01-00", "2027-01-01T00:00:00Zx", "2027- 1- 1",
        " 2027-01-01", "2027-+1-01", "2027-01-01T-0:00:00Z", "2027-01-01T 1: 2: 3Z", "-001-01-01"})
    EXPECT_THROW(parse_time(text), InvalidArgument) << text;
  // As a number it would be the end of a budget that has none.
  EXPECT_THROW(parse_time("1970-01-01"), InvalidArgument);
  EXPECT_THROW(parse_time("1969-12-31"), InvalidArgument);
}

TEST(Period, EndsOnTheSameDayOrTheLastOfTheMonth) {
  const auto end = [](const char* from, const char* period) {
    return iso_day(end_of_period(parse_time(from), period));
  };
  EXPECT_EQ(end("2026-11-16", "year"), "2027-11-16");
  EXPECT_EQ(end("2026-11-30", "quarter"), "2027-02-28");
  EXPECT_EQ(end("2028-02-29", "year"), "2029-02-28");
  EXPECT_EQ(end("2026-12-31", "half-year"), "2027-06-30");
  EXPECT_EQ(end("2026-12-31", "month"), "2027-01-31");
  EXPECT_EQ(iso_time(end_of_period(parse_time("2026-11-16T18:30:00Z"), "month")),
            "2026-12-16T18:30:00Z");
  EXPECT_THROW(end_of_period(0, "week"), InvalidArgument);
}

}  // namespace sotto::ledger::period_test
