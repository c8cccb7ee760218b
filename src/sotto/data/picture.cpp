#include "sotto/data/picture.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sotto/core/error.hpp"
#include "sotto/data/byte_source.hpp"
#include "sotto/data/detail/picture_parts.hpp"

namespace sotto {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 28;

Picture grey(detail::Samples samples) {
  Picture picture{samples.height, samples.width, {}};
  if (samples.channels == 1) {
    picture.pixels = std::move(samples.values);
    return picture;
  }
  picture.pixels.reserve(samples.values.size() / 3);
  for (std::size_t i = 0; i + 2 < samples.values.size(); i += 3) {
    const unsigned r = samples.values[i], g = samples.values[i + 1], b = samples.values[i + 2];
    picture.pixels.push_back(static_cast<std::uint8_t>((299 * r + 587 * g + 114 * b + 500) / 1000));
  }
  return picture;
}

}  // namespace

namespace detail {

void check_sides(std::size_t height, std::size_t width, const std::string& label) {
  if (height < 1 || width < 1 || height > kLongestSide || width > kLongestSide)
    throw DataError(fmt::format("{}: a side of the picture is not between 1 and {} pixels", label,
                                kLongestSide));
}

}  // namespace detail

Picture parse_picture(std::string_view bytes, const std::string& label) {
  if (detail::is_png(bytes)) return grey(detail::parse_png(bytes, label));
  if (detail::is_netpbm(bytes)) return grey(detail::parse_netpbm(bytes, label));
  throw DataError(fmt::format("{}: neither a PNG nor a PGM or PPM picture", label),
                  "convert it to one of these");
}

Picture read_picture(const std::string& path) {
  return parse_picture(read_all(path, kMostBytes), path);
}

bool is_picture_name(std::string_view name) {
  std::string lower(name);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  if (lower.ends_with(".gz")) lower.resize(lower.size() - 3);
  return lower.ends_with(".png") || lower.ends_with(".pgm") || lower.ends_with(".ppm") ||
         lower.ends_with(".pnm");
}

}  // namespace sotto
