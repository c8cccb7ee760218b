#include "sotto/data/ascii_toml.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstdint>

#include "sotto/data/schema.hpp"

namespace sotto::detail {
namespace {

bool beyond_ascii(char c) { return static_cast<unsigned char>(c) >= 0x80; }

// Takes one code point of more than one byte off the front; 0 when the bytes are not UTF-8.
std::uint32_t take_code_point(std::string_view& text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const auto length = static_cast<std::size_t>(std::countl_one(first));
  if (length < 2 || length > 4 || length > text.size()) return 0;
  std::uint32_t point = first & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0U) != 0x80U) return 0;
    point = point << 6U | (byte & 0x3FU);
  }
  constexpr std::uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = point >= 0xD800 && point < 0xE000;
  if (point < kSmallest[length] || point > 0x10FFFF || surrogate) return 0;
  text.remove_prefix(length);
  return point;
}

}  // namespace

std::string ascii_toml(std::string_view text) {
  unsigned line = 1;
  const auto fail = [&](const char* what, const char* hint) {
    throw SchemaProblem{line, 0, "", what, hint};
  };
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  std::string out;
  out.reserve(text.size());
  std::string_view open;  // the delimiter of the string that is open
  bool comment = false;
  const auto copy = [&](std::size_t n) {
    out += text.substr(0, n);
    text.remove_prefix(n);
  };
  while (!text.empty()) {
    const char c = text[0];
    if (beyond_ascii(c)) {
      const std::uint32_t point = take_code_point(text);
      if (point == 0) fail("the text is not UTF-8", "save the file as UTF-8");
      if (comment) continue;
      if (open.empty() || open[0] == '\'') {
        fail("a character beyond ASCII stands outside double quotes",
             "put names and values in double quotes, e.g. [columns.\"größe\"]");
      }
      out += fmt::format("\\U{:08x}", point);
      continue;
    }
    if (c == '\n') {
      ++line;
      comment = false;
      if (open.size() == 1) open = {};  // an error, which the parser reports
    } else if (!comment && open.empty()) {
      comment = c == '#';
      if (c == '"' || c == '\'') {
        const std::string_view three = text.substr(0, 3);
        open = three == R"(""")" || three == "'''" ? three : three.substr(0, 1);
        copy(open.size());
        continue;
      }
    } else if (!comment && c == '\\' && open[0] == '"' && text.size() > 1 &&
               !beyond_ascii(text[1]) && text[1] != '\n') {
      copy(2);
      continue;
    } else if (!comment && text.starts_with(open)) {
      copy(open.size());
      open = {};
      continue;
    }
    copy(1);
  }
  return out;
}

}  // namespace sotto::detail
