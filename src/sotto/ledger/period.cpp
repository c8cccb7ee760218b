#include "sotto/ledger/period.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <string_view>

#include "sotto/core/error.hpp"

namespace sotto::ledger {
namespace {

using std::chrono::sys_days;
using std::chrono::year_month_day;

constexpr std::int64_t kSecond = 1000, kDay = 24 * 60 * 60 * kSecond;

constexpr std::array<std::pair<const char*, int>, 4> kPeriods = {
    {{"month", 1}, {"quarter", 3}, {"half-year", 6}, {"year", 12}}};

std::int64_t floor_days(std::int64_t milliseconds) {
  return milliseconds / kDay - (milliseconds % kDay < 0 ? 1 : 0);
}

year_month_day day_of(std::int64_t milliseconds) {
  return sys_days(std::chrono::days(floor_days(milliseconds)));
}

std::int64_t milliseconds_of(const year_month_day& day) {
  return sys_days(day).time_since_epoch().count() * kDay;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string text_of(const year_month_day& day) {
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(day.year()),
                     static_cast<unsigned>(day.month()), static_cast<unsigned>(day.day()));
}

}  // namespace

std::int64_t parse_time(const std::string& text) {
  // sscanf reads signs and blanks in front of a number.
  bool plain = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool between = i > 0 && std::string_view("-:T").find(text[i]) != std::string_view::npos;
    plain = plain && (is_digit(text[i]) || (between && is_digit(text.c_str()[i + 1])) ||
                      (text[i] == 'Z' && i + 1 == text.size()));
  }
  int year = 0, read = 0;
  unsigned month = 0, day = 0, hours = 0, minutes = 0, seconds = 0;
  const bool whole_day =
      std::sscanf(text.c_str(), "%4d-%2u-%2u%n", &year, &month, &day, &read) == 3;
  bool complete = whole_day && static_cast<std::size_t>(read) == text.size();
  if (whole_day && !complete) {
    int more = 0;
    complete = std::sscanf(text.c_str() + read, "T%2u:%2u:%2uZ%n", &hours, &minutes, &seconds,
                           &more) == 3 &&
               more > 0 &&
               text.size() == static_cast<std::size_t>(read) + static_cast<std::size_t>(more);
  }
  const year_month_day date{std::chrono::year(year), std::chrono::month(month),
                            std::chrono::day(day)};
  if (!plain || !complete || !date.ok() || hours > 23 || minutes > 59 || seconds > 59)
    throw InvalidArgument(fmt::format("'{}' is no day", text),
                          "write 2027-01-31, or 2027-01-31T12:00:00Z");
  const std::int64_t moment =
      milliseconds_of(date) + ((hours * 60L + minutes) * 60 + seconds) * kSecond;
  // 0 is what a budget has that begins or ends on no day.
  if (moment <= 0)
    throw InvalidArgument(fmt::format("'{}' is before all budgets", text),
                          "write a day after 1970-01-01");
  return moment;
}

std::string iso_time(std::int64_t milliseconds) {
  const std::int64_t seconds = (milliseconds - floor_days(milliseconds) * kDay) / kSecond;
  return fmt::format("{}T{:02}:{:02}:{:02}Z", text_of(day_of(milliseconds)), seconds / 3600,
                     seconds / 60 % 60, seconds % 60);
}

std::string iso_day(std::int64_t milliseconds) { return text_of(day_of(milliseconds)); }

std::int64_t end_of_period(std::int64_t from, const std::string& period) {
  for (const auto& [name, months] : kPeriods) {
    if (period != name) continue;
    const year_month_day first = day_of(from);
    const auto month = first.year() / first.month() + std::chrono::months(months);
    const year_month_day last = month / std::chrono::last;
    const year_month_day end = month / first.day();
    return milliseconds_of(end.ok() ? end : last) + (from - floor_days(from) * kDay);
  }
  throw InvalidArgument(fmt::format("'{}' is no period", period),
                        "`period`: month, quarter, half-year, year");
}

}  // namespace sotto::ledger
