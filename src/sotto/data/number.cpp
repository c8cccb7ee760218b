#include "sotto/data/number.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "sotto/data/detail/short_decimal.hpp"

namespace sotto {
namespace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Copied to where enough can be read.
bool parse_short_decimal(std::string_view cell, double& value) {
  if (cell.size() > detail::kShortDecimalBytes + 1) return false;
  std::array<char, 2 * detail::kShortDecimalBytes> room{};
  std::copy(cell.begin(), cell.end(), room.begin());
  return detail::short_decimal(room.data(), cell.size(), value);
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
  if (parse_short_decimal(cell, value)) return {CellKind::number, value};
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
