#include <fmt/format.h>

#include "sotto/core/error.hpp"
#include "sotto/data/detail/picture_parts.hpp"

namespace sotto::detail {
namespace {

constexpr unsigned kMostLevels = 255;

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// The tokens of the header, and of the body where it is text.
class Tokens {
 public:
  Tokens(std::string_view bytes, const std::string& label) : bytes_(bytes), label_(label) {}

  unsigned number() {
    skip();
    const std::size_t first = at_;
    unsigned value = 0;
    for (; at_ < bytes_.size() && bytes_[at_] >= '0' && bytes_[at_] <= '9'; ++at_) {
      value = 10 * value + static_cast<unsigned>(bytes_[at_] - '0');
      if (value > 1u << 20) fail("a number is too large");
    }
    if (at_ == first) fail("a number is missing");
    return value;
  }
  // What follows the one space after the header.
  std::string_view rest() {
    if (at_ >= bytes_.size() || !is_space(bytes_[at_])) fail("the header is incomplete");
    return bytes_.substr(at_ + 1);
  }
  void finish() {
    skip();
    if (at_ != bytes_.size()) fail("there is something after the picture");
  }
  [[noreturn]] void fail(const char* what) const {
    throw DataError(fmt::format("{}: {}", label_, what), "the file is damaged");
  }

 private:
  void skip() {  // spaces, and comments up to the end of their line
    for (; at_ < bytes_.size(); ++at_) {
      if (bytes_[at_] == '#') {
        while (at_ < bytes_.size() && bytes_[at_] != '\n') ++at_;
        if (at_ == bytes_.size()) return;
      } else if (!is_space(bytes_[at_])) {
        return;
      }
    }
  }

  std::string_view bytes_;
  const std::string& label_;
  std::size_t at_ = 2;  // behind the magic number
};

}  // namespace

bool is_netpbm(std::string_view bytes) {
  return bytes.size() > 2 && bytes[0] == 'P' &&
         (bytes[1] == '2' || bytes[1] == '3' || bytes[1] == '5' || bytes[1] == '6') &&
         (is_space(bytes[2]) || bytes[2] == '#');
}

Samples parse_netpbm(std::string_view bytes, const std::string& label) {
  const char kind = bytes[1];
  Tokens tokens(bytes, label);
  Samples samples;
  samples.width = tokens.number();
  samples.height = tokens.number();
  samples.channels = kind == '3' || kind == '6' ? 3 : 1;
  check_sides(samples.height, samples.width, label);
  const unsigned most = tokens.number();
  if (most < 1 || most > kMostLevels)
    throw DataError(fmt::format("{}: its largest level is {}", label, most),
                    "pictures with levels up to 255 are read");
  const std::size_t count = samples.height * samples.width * samples.channels;
  const auto stretched = [&](unsigned level) {
    if (level > most) tokens.fail("a level is larger than the largest one");
    return static_cast<std::uint8_t>((level * kMostLevels + most / 2) / most);
  };
  if (kind == '5' || kind == '6') {
    const std::string_view body = tokens.rest();
    if (body.size() != count) tokens.fail("there are not as many bytes as pixels");
    for (const char c : body) samples.values.push_back(stretched(static_cast<unsigned char>(c)));
    return samples;
  }
  if (bytes.size() < 2 * count) tokens.fail("there are not as many numbers as pixels");
  for (std::size_t i = 0; i < count; ++i) samples.values.push_back(stretched(tokens.number()));
  tokens.finish();
  return samples;
}

}  // namespace sotto::detail
