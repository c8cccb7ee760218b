// Detail: the common form of a number, [-]digits[.digits] with at most 15 digits, eight characters
// at a time.
//
// Mantissa and power of ten are both exact doubles, so one division rounds once and the result is
// the nearest double. Anything else is left to the general parser (number.hpp).
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace sotto::detail {

// From the first character on so many bytes must be readable, however short the text is.
inline constexpr std::size_t kShortDecimalBytes = 16;

// Powers of ten that a double holds exactly.
inline constexpr std::array<double, 16> kExactPowers = {
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

// Up to eight digits, one of them possibly a point.
struct DigitGroup {
  std::uint64_t digits = 0;  // one in each byte, the first in the lowest; zeros before them
  unsigned after_point = 0;
  bool has_point = false;

  // 1 to 8 characters; reads 8 bytes. False where there is anything but digits and one point.
  bool read(const char* text, std::size_t size) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, text, sizeof bytes);
    if constexpr (std::endian::native == std::endian::big) bytes = __builtin_bswap64(bytes);
    digits = (bytes ^ 0x3030303030303030) << (8 * (8 - size));
    // The high bit of every byte above 9; exact up to the first such byte, and behind a point.
    const std::uint64_t others = (digits | (digits + 0x7676767676767676)) & 0x8080808080808080;
    if (others == 0) return true;
    const int at = std::countr_zero(others) / 8 * 8;
    has_point = ((digits >> at) & 0xff) == ('.' ^ '0');
    if (!has_point || (others & (others - 1)) != 0) return false;
    after_point = static_cast<unsigned>(7 - at / 8);
    const std::uint64_t before = digits & ((std::uint64_t{1} << at) - 1);
    digits = (digits >> at >> 8 << at << 8) | (before << 8);
    return true;
  }
  std::uint64_t value() const {  // pairs, then fours, then all eight
    constexpr std::uint64_t kPairs = 0x000000ff000000ff;
    const std::uint64_t pairs = digits * 10 + (digits >> 8);
    return ((pairs & kPairs) * 0x000f424000000064 +
            ((pairs >> 16) & kPairs) * 0x0000271000000001) >>
           32;
  }
};

inline bool short_decimal(const char* text, std::size_t size, double& value) {
  const bool negative = size > 0 && *text == '-';
  text += negative;
  size -= negative;
  if (size == 0 || size > 16) return false;
  DigitGroup last;
  std::uint64_t mantissa = 0;
  std::size_t after_point = 0;
  if (size <= 8) {
    if (!last.read(text, size) || (last.has_point && size == 1)) return false;
    mantissa = last.value();
    after_point = last.after_point;
  } else {
    DigitGroup first;
    if (!last.read(text + size - 8, 8) || !first.read(text, size - 8)) return false;
    if (first.has_point ? last.has_point : !last.has_point && size > 15) return false;
    mantissa = first.value() * (last.has_point ? 10'000'000 : 100'000'000) + last.value();
    after_point = first.has_point ? 8 + first.after_point : last.after_point;
  }
  const double magnitude = static_cast<double>(mantissa) / kExactPowers[after_point];
  // Signs of data are hard to predict: no branch.
  value = std::bit_cast<double>(std::bit_cast<std::uint64_t>(magnitude) |
                                (std::uint64_t{negative} << 63));
  return true;
}

}  // namespace sotto::detail
