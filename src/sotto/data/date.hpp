// Dates and times as they stand in cells, and the numbers that a model may see of them.
//
// What       "2024-03-01", "2024-03-01T14:05:30", "01.03.2024 14:05", "14:05" and their parts:
//            year, month, weekday, day of the year, time of day, days since a declared date.
// Guarantee  Every part is a public function of the cell alone.
// Method     The proleptic Gregorian calendar; a zone behind a time ("Z", "+01:00") is passed over,
//            so that the hour is the local one that was written.
// Numerics   Days are whole numbers, times are fractions of a day.
// Reference  docs/reference/schema.md, section "Dates and times".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sotto {

enum class DatePart { year, month, weekday, day_of_year, time_of_day, elapsed };
// How a date is written: 2024-03-01, 01.03.2024 or 03/01/2024.
enum class DateOrder { year_first, day_first, month_first };

std::string_view name(DatePart part);
std::string_view name(DateOrder order);

struct DateTime {
  std::int64_t day = 0;  // since 1970-01-01
  double time = 0;       // of the day, in [0, 1)
};

// Nothing for what is no date (of years 0001 to 9999), or no day of the calendar.
std::optional<DateTime> parse_date(std::string_view cell, DateOrder order);
// "14:05", "14:05:30.5": a moment of day 0.
std::optional<DateTime> parse_time(std::string_view cell);

// year: 2024; month: 1 to 12; weekday: 0 for Monday to 6; day_of_year: 1 to 366;
// time_of_day: hours in [0, 24); elapsed: days since 1970-01-01, with their fraction.
double part_of(const DateTime& moment, DatePart part);

std::string date_text(std::int64_t day);  // "2024-03-01"

}  // namespace sotto
