// Detail: the formats behind picture.hpp.
#pragma once

#include <string>
#include <string_view>

#include "sotto/data/picture.hpp"

namespace sotto::detail {

// Samples as they stand in a file: one (grey) or three (red, green, blue) bytes a pixel.
struct Samples {
  std::size_t height = 0, width = 0, channels = 1;
  std::vector<std::uint8_t> values;
};

// Throw DataError.
void check_sides(std::size_t height, std::size_t width, const std::string& label);
bool is_netpbm(std::string_view bytes);
Samples parse_netpbm(std::string_view bytes, const std::string& label);
bool is_png(std::string_view bytes);
Samples parse_png(std::string_view bytes, const std::string& label);

}  // namespace sotto::detail
