#include "sotto/data/number.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>

#include "sotto/data/detail/short_decimal.hpp"

namespace sotto {
namespace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

// detail::short_decimal reads whole words; here nobody knows what lies behind the text.
bool parse_short_decimal(const char* p, const char* end, double& value) {
  const bool negative = *p == '-';
  p += negative;
  std::uint64_t mantissa = 0;
  const char* const first = p;
  while (p != end && is_digit(*p)) mantissa = mantissa * 10 + static_cast<unsigned>(*p++ - '0');
  std::size_t digits = static_cast<std::size_t>(p - first), fraction = 0;
  if (p != end && *p == '.') {
    const char* const point = ++p;
    while (p != end && is_digit(*p)) mantissa = mantissa * 10 + static_cast<unsigned>(*p++ - '0');
    fraction = static_cast<std::size_t>(p - point);
    digits += fraction;
  }
  if (p != end || digits == 0 || digits > 15) return false;
  const double magnitude = static_cast<double>(mantissa) / detail::kExactPowers[fraction];
  value = negative ? -magnitude : magnitude;
  return true;
}

// Whether a decimal that is out of the range of doubles is out because it is huge (rather than
// tiny).
bool is_huge(std::string_view text) {
  constexpr std::int64_t kFar = 1'000'000'000;
  std::int64_t magnitude = 0;  // position of the first significant digit before the point
  bool significant = false, after_point = false;
  std::size_t i = 0;
  for (; i < text.size() && (is_digit(text[i]) || text[i] == '.' || text[i] == '-'); ++i) {
    if (text[i] == '.') after_point = true;
    if (!is_digit(text[i])) continue;
    significant = significant || text[i] != '0';
    if (significant && !after_point) ++magnitude;
    if (!significant && after_point) --magnitude;
  }
  std::int64_t exponent = 0;
  bool negative = false;
  for (; i < text.size(); ++i) {
    if (text[i] == '-') negative = true;
    if (is_digit(text[i]) && exponent < kFar) exponent = exponent * 10 + (text[i] - '0');
  }
  return magnitude + (negative ? -exponent : exponent) > 0;
}

}  // namespace

NumberCell parse_number(std::string_view cell) {
  cell = trimmed(cell);
  if (cell.empty()) return {CellKind::missing};
  if (cell.size() > 1 && cell.front() == '+' && cell[1] != '-') cell.remove_prefix(1);
  const char* const end = cell.data() + cell.size();
  double value = 0;
  if (parse_short_decimal(cell.data(), end, value)) return {CellKind::number, value};
  const auto [stop, error] = std::from_chars(cell.data(), end, value);
  if (stop != end || error == std::errc::invalid_argument) return {CellKind::text};
  if (error == std::errc::result_out_of_range) {
    if (is_huge(cell)) return {CellKind::not_finite};
    return {CellKind::number, 0.0};
  }
  if (!std::isfinite(value)) return {CellKind::not_finite};
  return {CellKind::number, value};
}

std::string_view with_point(std::string_view cell, std::string& scratch) {
  bool digits = false, marks = false;
  for (const char c : cell) {
    digits = digits || is_digit(c);
    marks = marks || c == ',' || c == '.';
    if (!is_digit(c) && std::string_view(" \t+-.,eE").find(c) == std::string_view::npos)
      return cell;
  }
  if (!digits || !marks) return cell;
  scratch.assign(cell);
  for (char& c : scratch) c = c == ',' ? '.' : c == '.' ? ',' : c;
  return scratch;
}

}  // namespace sotto
