#include "sotto/core/text.hpp"

#include <fmt/format.h>

#include <iterator>

namespace sotto {
namespace {

template <class Hide>
std::string escaped(std::string_view text, const Hide& hide) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    const long point = next_code_point(text, at);
    if (point < 0) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(text[begin]));
    } else if (hide(point)) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", point);
    } else {
      out += text.substr(begin, at - begin);
    }
  }
  return out;
}

}  // namespace

long next_code_point(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  const std::size_t begin = at++;
  const unsigned first = byte(begin);
  if (first < 0x80) return first;
  const std::size_t more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
  if (first < 0xc2 || first > 0xf4 || begin + more >= text.size()) return -1;
  long point = first & (0x3fU >> more);
  for (std::size_t k = begin + 1; k <= begin + more; ++k) {
    if ((byte(k) & 0xc0U) != 0x80U) return -1;
    point = point << 6 | (byte(k) & 0x3f);
  }
  constexpr long kSmallest[] = {0, 0x80, 0x800, 0x10000};
  if (point < kSmallest[more] || point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) return -1;
  at = begin + 1 + more;
  return point;
}

bool is_invisible(long p) {
  return p < 0x20 || (p >= 0x7f && p < 0xa0) || (p >= 0x200b && p <= 0x200f) ||
         (p >= 0x2028 && p <= 0x202e) || (p >= 0x2060 && p <= 0x206f) || p == 0xfeff;
}

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();)
    if (next_code_point(text, at) < 0) return false;
  return true;
}

std::string as_utf8(std::string_view text) {
  return escaped(text, [](long) { return false; });
}

std::string visible(std::string_view text) { return escaped(text, is_invisible); }

std::string visible_lines(std::string_view text) {
  return escaped(text, [](long p) { return is_invisible(p) && p != '\n' && p != '\t'; });
}

}  // namespace sotto
