// PNG as its specification has it: a signature, chunks with a checksum each, rows that are filtered
// one by one and deflated together.
#include <fmt/format.h>
#include <zlib.h>

#include <cstdlib>
#include <optional>

#include "sotto/core/error.hpp"
#include "sotto/data/detail/picture_parts.hpp"

namespace sotto::detail {
namespace {

constexpr std::string_view kSignature("\x89PNG\r\n\x1a\n", 8);
constexpr unsigned kGrey = 0, kRgb = 2, kPalette = 3;  // kinds of colour

[[noreturn]] void fail(const std::string& label, std::string_view what,
                       std::string hint = "the file is damaged") {
  throw DataError(fmt::format("{}: {}", label, what), std::move(hint));
}

std::uint32_t word(std::string_view bytes) {
  std::uint32_t value = 0;
  for (const char c : bytes.substr(0, 4)) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

struct Chunk {
  std::string_view type, data;
};

class Chunks {
 public:
  Chunks(std::string_view bytes, const std::string& label)
      : rest_(bytes.substr(kSignature.size())), label_(label) {}

  Chunk next() {
    constexpr std::size_t kAround = 12;  // length, type and checksum
    if (rest_.size() < kAround) fail(label_, "the PNG file ends too early");
    const std::size_t length = word(rest_);
    if (length > rest_.size() - kAround) fail(label_, "the PNG file ends too early");
    const std::string_view checked = rest_.substr(4, 4 + length);
    const auto sum =
        crc32(0, reinterpret_cast<const Bytef*>(checked.data()), static_cast<uInt>(checked.size()));
    if (sum != word(rest_.substr(8 + length))) fail(label_, "a checksum of the PNG file is wrong");
    rest_ = rest_.substr(kAround + length);
    return {checked.substr(0, 4), checked.substr(4)};
  }

 private:
  std::string_view rest_;
  const std::string& label_;
};

struct PngHeader {
  std::size_t height, width, samples;  // samples: bytes a pixel in the file
  unsigned colour;
};

PngHeader header_of(const Chunk& chunk, const std::string& label) {
  if (chunk.type != "IHDR" || chunk.data.size() != 13) fail(label, "the PNG file has no header");
  const auto byte = [&](std::size_t i) {
    return static_cast<unsigned>(static_cast<unsigned char>(chunk.data[i]));
  };
  const unsigned colour = byte(9);
  const char* const convert = "convert it to 8 bits, grey or colour, without transparency";
  if (byte(8) != 8) fail(label, "the PNG file has not 8 bits a sample", convert);
  if (colour == 4 || colour == 6) fail(label, "the PNG file has transparency", convert);
  if (colour != kGrey && colour != kRgb && colour != kPalette)
    fail(label, "the PNG file has an unknown kind of colour");
  if (byte(10) != 0 || byte(11) != 0) fail(label, "the PNG file is compressed in an unknown way");
  if (byte(12) != 0) fail(label, "the PNG file is interlaced", "save it without interlacing");
  const PngHeader header{word(chunk.data.substr(4)), word(chunk.data), colour == kRgb ? 3u : 1u,
                         colour};
  check_sides(header.height, header.width, label);
  return header;
}

// Exactly `size` bytes, or it fails.
std::vector<std::uint8_t> inflated(const std::string& packed, std::size_t size,
                                   const std::string& label) {
  // Deflate packs at most 1032 to one: memory grows with what is really there.
  if (size / 1032 > packed.size()) fail(label, "the PNG file ends too early");
  std::vector<std::uint8_t> out(size);
  auto length = static_cast<uLongf>(size);
  auto taken = static_cast<uLong>(packed.size());
  const int result =
      uncompress2(out.data(), &length, reinterpret_cast<const Bytef*>(packed.data()), &taken);
  if (result != Z_OK || length != size) fail(label, "the pixels of the PNG file do not unpack");
  return out;
}

int paeth(int left, int up, int corner) {
  const int guess = left + up - corner;
  const int a = std::abs(guess - left), b = std::abs(guess - up), c = std::abs(guess - corner);
  return a <= b && a <= c ? left : b <= c ? up : corner;
}

// Undoes the filter of one row in place; above: the row before, or zeros.
void unfilter(unsigned filter, const std::uint8_t* above, std::uint8_t* row, std::size_t length,
              std::size_t step, const std::string& label) {
  if (filter > 4) fail(label, "a row of the PNG file is filtered in an unknown way");
  for (std::size_t i = 0; i < length; ++i) {
    const int left = i < step ? 0 : row[i - step], up = above[i];
    const int corner = i < step ? 0 : above[i - step];
    int add = 0;
    if (filter == 1) add = left;
    if (filter == 2) add = up;
    if (filter == 3) add = (left + up) / 2;
    if (filter == 4) add = paeth(left, up, corner);
    row[i] = static_cast<std::uint8_t>(row[i] + add);
  }
}

}  // namespace

bool is_png(std::string_view bytes) { return bytes.starts_with(kSignature); }

Samples parse_png(std::string_view bytes, const std::string& label) {
  Chunks chunks(bytes, label);
  const PngHeader header = header_of(chunks.next(), label);
  std::string packed;
  std::string_view palette;
  for (Chunk chunk = chunks.next(); chunk.type != "IEND"; chunk = chunks.next()) {
    if (chunk.type == "IDAT") {
      packed += chunk.data;
    } else if (chunk.type == "PLTE") {
      palette = chunk.data;
    } else if (chunk.type == "tRNS") {
      fail(label, "the PNG file has transparency", "convert it to a picture without transparency");
    } else if ((chunk.type[0] & 0x20) == 0) {  // a capital letter: not to be ignored
      fail(label, "the PNG file has a part that is not known", "save it in a plain way");
    }
  }
  const std::size_t length = header.width * header.samples;
  std::vector<std::uint8_t> rows = inflated(packed, (length + 1) * header.height, label);
  Samples samples{header.height, header.width, header.colour == kGrey ? 1u : 3u, {}};
  const std::vector<std::uint8_t> zeros(length);
  const std::uint8_t* above = zeros.data();
  for (std::size_t y = 0; y < header.height; ++y) {
    std::uint8_t* const row = rows.data() + y * (length + 1) + 1;
    unfilter(row[-1], above, row, length, header.samples, label);
    above = row;
    if (header.colour != kPalette) {
      samples.values.insert(samples.values.end(), row, row + length);
      continue;
    }
    for (std::size_t x = 0; x < length; ++x) {
      const std::size_t entry = std::size_t{3} * row[x];
      if (entry + 3 > palette.size()) fail(label, "a colour is not in the palette");
      for (std::size_t c = 0; c < 3; ++c)
        samples.values.push_back(static_cast<std::uint8_t>(palette[entry + c]));
    }
  }
  return samples;
}

}  // namespace sotto::detail
