// Any bytes as a picture: as many pixels as its sides say, or a DataError.
#include <cstdint>
#include <string_view>

#include "property.hpp"
#include "sotto/core/error.hpp"
#include "sotto/data/picture.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sotto;
  if (size > 1 << 14) return 0;
  try {
    const Picture picture = parse_picture({reinterpret_cast<const char*>(data), size}, "it");
    require(picture.pixels.size() == picture.height * picture.width,
            "the picture has the pixels of its sides");
  } catch (const Error& error) {
    require(error.code() == ErrorCode::bad_input, "an error of the input");
  }
  return 0;
}
