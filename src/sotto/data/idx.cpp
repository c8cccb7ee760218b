#include "sotto/data/idx.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sotto/core/error.hpp"
#include "sotto/data/byte_source.hpp"

namespace sotto {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{1} << 36, kMaxIdxDimensions = 8;
constexpr unsigned kUnsignedByte = 0x08;

IdxArray read_idx(ByteSource& source, const std::string& label) {
  const auto fail = [&](std::string_view what, std::string hint = {}) {
    throw DataError(fmt::format("{}: {}", label, what), std::move(hint));
  };
  std::array<unsigned char, 4> word{};
  const auto next_word = [&] {
    if (source.read({reinterpret_cast<char*>(word.data()), word.size()}) != word.size()) {
      fail("the IDX header is incomplete");
    }
  };
  next_word();
  const std::size_t dimensions = word[3];
  if (word[0] != 0 || word[1] != 0 || dimensions == 0 || dimensions > kMaxIdxDimensions) {
    fail("not an IDX file: the format of images and labels of MNIST and its relatives");
  }
  if (word[2] != kUnsignedByte) fail("the IDX file does not hold unsigned bytes");
  IdxArray array;
  std::size_t total = 1;
  for (std::size_t i = 0; i < dimensions; ++i) {
    next_word();
    const std::size_t size = std::size_t{word[0]} << 24 | std::size_t{word[1]} << 16 |
                             std::size_t{word[2]} << 8 | std::size_t{word[3]};
    if (size != 0 && total > kMaxBytes / size) fail("the IDX array is too large");
    total *= size;
    array.shape.push_back(size);
  }
  constexpr std::size_t kFirst = std::size_t{1} << 16;
  while (array.values.size() < total) {  // memory grows with what the file really holds
    const std::size_t before = array.values.size(),
                      n = std::min(std::max(before, kFirst), total - before);
    array.values.resize(before + n);
    if (source.read({reinterpret_cast<char*>(array.values.data()) + before, n}) != n) {
      fail("the file ends before its array does", "the file is incomplete");
    }
  }
  char extra = 0;
  if (source.read({&extra, 1}) != 0) fail("there are bytes after the array");
  return array;
}

}  // namespace

IdxArray read_idx(const std::string& path) { return read_idx(*open_bytes(path), path); }

IdxArray parse_idx(std::string_view bytes, const std::string& label) {
  return read_idx(*bytes_of(bytes, label), label);
}

}  // namespace sotto
