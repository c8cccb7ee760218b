#include "sotto/data/date.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <chrono>

#include "sotto/data/number.hpp"

namespace sotto {
namespace {

using std::chrono::days;
using std::chrono::sys_days;
using std::chrono::year_month_day;

// Reads a text from left to right.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool ended() const { return text_.empty(); }
  std::size_t left() const { return text_.size(); }
  // A number of at most so many digits.
  std::optional<int> digits(std::size_t most, std::size_t least = 1) {
    std::size_t n = 0;
    while (n < most && n < text_.size() && text_[n] >= '0' && text_[n] <= '9') ++n;
    int value = 0;
    if (n < least || std::from_chars(text_.data(), text_.data() + n, value).ec != std::errc())
      return std::nullopt;
    text_.remove_prefix(n);
    return value;
  }
  std::optional<char> one_of(std::string_view characters) {
    if (text_.empty() || characters.find(text_.front()) == std::string_view::npos)
      return std::nullopt;
    const char found = text_.front();
    text_.remove_prefix(1);
    return found;
  }

 private:
  std::string_view text_;
};

// The time of day; a zone behind it means nothing.
std::optional<double> scan_time(Scanner& in) {
  const auto hour = in.digits(2);
  if (!hour || !in.one_of(":")) return std::nullopt;
  const auto minute = in.digits(2, 2);
  if (!minute || *hour > 23 || *minute > 59) return std::nullopt;
  double seconds = 0;
  if (in.one_of(":")) {
    const auto whole = in.digits(2, 2);
    if (!whole || *whole > 60) return std::nullopt;
    seconds = *whole < 60 ? *whole : 59;  // a leap second is the one before it
    if (in.one_of(".,")) {
      constexpr std::size_t kDigits = 9;
      const std::size_t before = in.left();
      const auto fraction = in.digits(kDigits);
      if (!fraction) return std::nullopt;
      double unit = 1;
      for (std::size_t i = in.left(); i < before; ++i) unit *= 10;
      seconds += *fraction / unit;
    }
  }
  if (!in.one_of("Z") && in.one_of("+-")) {
    if (!in.digits(2, 2)) return std::nullopt;
    in.one_of(":");
    if (!in.ended() && !in.digits(2, 2)) return std::nullopt;
  }
  if (!in.ended()) return std::nullopt;
  constexpr double kSecondsOfADay = 86400;
  return (*hour * 3600.0 + *minute * 60.0 + seconds) / kSecondsOfADay;
}

year_month_day calendar(std::int64_t day) { return sys_days(days(static_cast<int>(day))); }

}  // namespace

std::string_view name(DatePart part) {
  constexpr std::array<std::string_view, 6> kNames = {"year",        "month",       "weekday",
                                                      "day_of_year", "time_of_day", "elapsed"};
  return kNames[static_cast<std::size_t>(part)];
}

std::string_view name(DateOrder order) {
  switch (order) {
    case DateOrder::year_first: return "year_first";
    case DateOrder::day_first: return "day_first";
    case DateOrder::month_first: return "month_first";
  }
  return "";
}

std::optional<DateTime> parse_date(std::string_view cell, DateOrder order) {
  Scanner in(trimmed(cell));
  const bool year_first = order == DateOrder::year_first;
  const auto first = year_first ? in.digits(4, 4) : in.digits(2);
  const auto mark = in.one_of("-./");
  const auto second = in.digits(2);
  if (!first || !mark || !second || !in.one_of({&*mark, 1})) return std::nullopt;
  const auto third = year_first ? in.digits(2) : in.digits(4, 4);
  if (!third) return std::nullopt;
  const int year = year_first ? *first : *third;
  const int month = order == DateOrder::month_first ? *first : *second;
  const int day = year_first ? *third : order == DateOrder::day_first ? *first : *second;
  const year_month_day date(std::chrono::year(year),
                            std::chrono::month(static_cast<unsigned>(month)),
                            std::chrono::day(static_cast<unsigned>(day)));
  if (year < 1 || !date.ok()) return std::nullopt;
  DateTime moment{.day = sys_days(date).time_since_epoch().count()};
  if (in.ended()) return moment;
  if (!in.one_of("T ")) return std::nullopt;
  const auto time = scan_time(in);
  if (!time) return std::nullopt;
  moment.time = *time;
  return moment;
}

std::optional<DateTime> parse_time(std::string_view cell) {
  Scanner in(trimmed(cell));
  const auto time = scan_time(in);
  if (!time) return std::nullopt;
  return DateTime{.day = 0, .time = *time};
}

double part_of(const DateTime& moment, DatePart part) {
  const year_month_day date = calendar(moment.day);
  switch (part) {
    case DatePart::year: return static_cast<int>(date.year());
    case DatePart::month: return static_cast<unsigned>(date.month());
    case DatePart::weekday:
      return std::chrono::weekday(sys_days(days(static_cast<int>(moment.day)))).iso_encoding() -
             1.0;
    case DatePart::day_of_year: {
      const sys_days first = date.year() / std::chrono::January / 1;
      return static_cast<double>(moment.day - first.time_since_epoch().count() + 1);
    }
    case DatePart::time_of_day: return moment.time * 24;
    case DatePart::elapsed: return static_cast<double>(moment.day) + moment.time;
  }
  return 0;
}

std::string date_text(std::int64_t day) {
  const year_month_day date = calendar(day);
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

}  // namespace sotto
