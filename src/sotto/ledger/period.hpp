// Days and periods of budgets, in the calendar of people and in UTC.
#pragma once

#include <cstdint>
#include <string>

namespace sotto::ledger {

// Milliseconds since 1970 of a day (2027-01-31) or a second (2027-01-31T12:00:00Z). Throws
// InvalidArgument.
std::int64_t parse_time(const std::string& text);

std::string iso_time(std::int64_t milliseconds);  // ISO 8601: 2027-01-31T12:00:00Z
std::string iso_day(std::int64_t milliseconds);   // 2027-01-31

// The same day a month, quarter, half-year or year later; the last of the month where there is no
// such day.
// Throws InvalidArgument for another word.
std::int64_t end_of_period(std::int64_t from, const std::string& period);

}  // namespace sotto::ledger
