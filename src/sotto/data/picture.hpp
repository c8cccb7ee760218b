// A picture as grey bytes: PGM and PPM (text or raw), PNG (8 bits a sample: grey, colour or
// palette, not interlaced), recognised by their first bytes, plain or gzip.
//
// Colours become grey by (299·red + 587·green + 114·blue)/1000, rounded; levels of a PGM with
// another maximum than 255 are stretched to it. What else a PNG can be (transparency, 16 bits,
// interlaced) is refused by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sotto {

struct Picture {
  std::size_t height = 0, width = 0;
  std::vector<std::uint8_t> pixels;  // height × width, row by row
};

// Pictures have at most so many pixels on either side.
inline constexpr std::size_t kLongestSide = 1 << 14;

Picture read_picture(const std::string& path);                            // throws DataError
Picture parse_picture(std::string_view bytes, const std::string& label);  // throws DataError
// Whether a name ends like one of these files: .png, .pgm, .ppm, .pnm, also with .gz, in small or
// capital letters.
bool is_picture_name(std::string_view name);

}  // namespace sotto
