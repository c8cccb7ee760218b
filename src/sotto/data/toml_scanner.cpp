#include "sotto/data/detail/toml_scanner.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>

#include "sotto/core/text.hpp"

namespace sotto::detail {
namespace {

using Json = nlohmann::ordered_json;

// How many bytes the code point at the front has; 0 when the bytes are not UTF-8.
std::size_t code_point_length(std::string_view text) {
  std::size_t length = 0;
  return next_code_point(text, length) < 0 ? 0 : length;
}

void append_utf8(std::string& out, std::uint32_t point) {
  const auto byte = [&](std::uint32_t b) { out += static_cast<char>(b); };
  if (point < 0x80) return byte(point);
  if (point < 0x800) {
    byte(0xC0U | point >> 6U);
  } else {
    if (point < 0x10000) {
      byte(0xE0U | point >> 12U);
    } else {
      byte(0xF0U | point >> 18U);
      byte(0x80U | (point >> 12U & 0x3FU));
    }
    byte(0x80U | (point >> 6U & 0x3FU));
  }
  byte(0x80U | (point & 0x3FU));
}

bool is_toml_digit(char c) { return c >= '0' && c <= '9'; }
bool is_bare(char c) {
  return is_toml_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         c == '-';
}
bool is_control(char c) {
  return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == '\x7f';
}

// Takes digits with single underscores between them off the front; false when there are none.
template <class IsDigit>
bool take_digits(std::string_view& text, std::string& digits, const IsDigit& digit) {
  const std::size_t before = digits.size();
  while (!text.empty() && digit(text[0])) {
    digits += text[0];
    text.remove_prefix(1);
    if (text.size() > 1 && text[0] == '_' && digit(text[1])) text.remove_prefix(1);
  }
  return digits.size() > before;
}

template <class Number, class... Base>
Json converted(const std::string& digits, Base... base) {
  Number value{};
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value, base...);
  return error == std::errc() && stop == end ? Json(value) : Json();
}

// Null when the word is not a number.
Json number(std::string_view word) {
  for (const auto& [prefix, base] : {std::pair{"0x", 16}, {"0o", 8}, {"0b", 2}}) {
    if (!word.starts_with(prefix)) continue;
    const auto digit = [b = base](char c) {
      return is_toml_digit(c) ? c - '0' < b
                              : b == 16 && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'));
    };
    std::string digits;
    word.remove_prefix(2);
    if (!take_digits(word, digits, digit) || !word.empty()) return {};
    return converted<std::int64_t>(digits, base);
  }
  std::string digits;
  const bool negative = word.starts_with('-');
  if (negative || word.starts_with('+')) word.remove_prefix(1);
  if (negative) digits = "-";
  if (word == "inf" || word == "nan") {
    const double value = word == "inf" ? std::numeric_limits<double>::infinity()
                                       : std::numeric_limits<double>::quiet_NaN();
    return negative ? -value : value;
  }
  const bool leading_zero =
      word.size() > 1 && word[0] == '0' && (is_toml_digit(word[1]) || word[1] == '_');
  if (leading_zero || !take_digits(word, digits, is_toml_digit)) return {};
  if (word.empty()) return converted<std::int64_t>(digits);
  if (word.starts_with('.')) {
    word.remove_prefix(1);
    digits += '.';
    if (!take_digits(word, digits, is_toml_digit)) return {};
  }
  if (word.starts_with('e') || word.starts_with('E')) {
    word.remove_prefix(1);
    digits += 'e';
    if (word.starts_with('-')) digits += '-';
    if (word.starts_with('-') || word.starts_with('+')) word.remove_prefix(1);
    if (!take_digits(word, digits, is_toml_digit)) return {};
  }
  return word.empty() ? converted<double>(digits) : Json();
}

}  // namespace

TomlScanner::TomlScanner(std::string_view text) : text_(text) {
  if (text_.starts_with("\xef\xbb\xbf")) text_.remove_prefix(3);
  unsigned line = 1;
  for (std::string_view left = text_; !left.empty();) {
    if (left[0] == '\n') ++line;
    const std::size_t length = code_point_length(left);
    if (length == 0) throw SchemaProblem{line, 0, "", "the text is not UTF-8", "save it as UTF-8"};
    left.remove_prefix(length);
  }
}

Position TomlScanner::position() const {
  // Goes on from where it was asked last: a line may be long and hold many names.
  if (counted_ < line_start_ || counted_ > at_) counted_ = line_start_, column_ = 1;
  for (; counted_ < at_; ++counted_)
    if ((static_cast<unsigned char>(text_[counted_]) & 0xC0U) != 0x80U) ++column_;
  return {line_, column_};
}

void TomlScanner::fail(const std::string& what) const {
  const Position at = position();
  throw SchemaProblem{at.line, at.column, "", "not valid TOML: " + what,
                      "strings need quotes; each column is a table [columns.NAME]"};
}

bool TomlScanner::line_end() const {
  return at_end() || rest().starts_with('\n') || rest().starts_with("\r\n");
}

void TomlScanner::take_line_end() {
  if (at_end()) return;
  at_ += peek() == '\r' ? 2 : 1;
  line_start_ = at_;
  ++line_;
}

void TomlScanner::skip_spaces() {
  while (peek() == ' ' || peek() == '\t') ++at_;
}

void TomlScanner::skip_comment() {
  if (peek() != '#') return;
  while (!line_end()) {
    if (is_control(peek())) fail("a control character in a comment");
    ++at_;
  }
}

void TomlScanner::skip_blank() {
  for (;;) {
    skip_spaces();
    skip_comment();
    if (at_end() || !line_end()) return;
    take_line_end();
  }
}

void TomlScanner::end_line() {
  skip_spaces();
  skip_comment();
  if (!line_end()) fail("something stands where the line should end");
  take_line_end();
}

bool TomlScanner::accept(char c) {
  if (at_end() || text_[at_] != c) return false;
  ++at_;
  return true;
}

void TomlScanner::expect(char c, const char* where) {
  if (!accept(c)) fail(fmt::format("expected '{}' {}", c, where));
}

std::string TomlScanner::name() {
  if (peek() == '"' || peek() == '\'') {
    const std::string three(3, peek());
    if (rest().starts_with(three)) fail("a name stands on one line, in one pair of quotes");
    return string();
  }
  const std::size_t begin = at_;
  while (!at_end() && is_bare(peek())) ++at_;
  if (at_ == begin || static_cast<unsigned char>(peek()) >= 0x80)
    fail("a name is expected; names with other than a-z, 0-9, _ and - need quotes");
  return std::string(text_.substr(begin, at_ - begin));
}

std::vector<TomlScanner::Key> TomlScanner::key() {
  std::vector<Key> parts;
  do {
    skip_spaces();
    const Position at = position();
    parts.push_back({name(), at});
    skip_spaces();
  } while (accept('.'));
  return parts;
}

void TomlScanner::plain(std::string& out) {
  if (at_end()) fail("a string does not end");
  if (is_control(peek())) fail("a control character or a line end in a string");
  out += text_[at_++];
}

void TomlScanner::take_escape(std::string& out) {
  constexpr std::string_view kNames = "btnfr\"\\", kMeanings = "\b\t\n\f\r\"\\";
  const char c = peek();
  if (const std::size_t i = kNames.find(c); !at_end() && i != std::string_view::npos) {
    out += kMeanings[i];
    ++at_;
    return;
  }
  const std::size_t length = c == 'u' ? 4 : c == 'U' ? 8 : 0;
  if (length == 0) fail("an unknown escape in a string");
  const std::string_view hex = rest().substr(1, length);
  std::uint32_t point = 0;
  const auto [stop, error] = std::from_chars(hex.data(), hex.data() + hex.size(), point, 16);
  const bool whole = hex.size() == length && stop == hex.data() + length && error == std::errc();
  if (!whole || point > 0x10FFFF || (point >= 0xD800 && point < 0xE000))
    fail("an escape that is no character");
  append_utf8(out, point);
  at_ += 1 + length;
}

std::string TomlScanner::string() {
  const char quote = peek();
  const std::string three(3, quote);
  const bool basic = quote == '"', lines = rest().starts_with(three);
  at_ += lines ? 3 : 1;
  if (lines && !at_end() && line_end()) take_line_end();  // the first one does not count
  std::string out;
  for (;;) {
    if (lines && rest().starts_with(three)) {
      at_ += 3;
      for (int extra = 0; extra < 2 && accept(quote); ++extra) out += quote;
      return out;
    }
    if (!lines && accept(quote)) return out;
    if (basic && accept('\\')) {
      const std::size_t back = at_;
      skip_spaces();
      if (lines && !at_end() && line_end()) {
        while (!at_end() && line_end()) {
          take_line_end();
          skip_spaces();
        }
        continue;
      }
      at_ = back;
      take_escape(out);
    } else if (lines && !at_end() && line_end()) {
      out += '\n';
      take_line_end();
    } else {
      plain(out);
    }
  }
}

nlohmann::ordered_json TomlScanner::scalar() {
  const std::size_t begin = at_;
  while (!at_end() && (is_bare(peek()) || peek() == '+' || peek() == '.' || peek() == ':')) ++at_;
  const std::string_view word = text_.substr(begin, at_ - begin);
  if (word == "true") return true;
  if (word == "false") return false;
  Json value = number(word);
  if (value.is_null()) {
    at_ = begin;
    if (!word.empty() && is_toml_digit(word[0]) &&
        word.find_first_of("-:") != std::string_view::npos &&
        word.find('e') == std::string_view::npos)
      fail("dates and times have no place in a schema");
    fail("a value is expected: text in quotes, a number in range, true, false, a list or a table");
  }
  return value;
}

}  // namespace sotto::detail
