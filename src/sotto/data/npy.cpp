#include "sotto/data/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

#include "sotto/core/error.hpp"
#include "sotto/data/byte_source.hpp"

namespace sotto {
namespace {

static_assert(std::endian::native == std::endian::little, "values are copied as little-endian");

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr std::size_t kMaxHeader = 1U << 20, kMaxNpyDimensions = 32;

struct NpyHeader {
  std::string type;
  bool fortran = false;
  std::vector<std::size_t> shape;
  std::size_t elements = 1, bytes = 0;
};

// Reads the one kind of Python literal that numpy writes: {'descr': '<f8', 'fortran_order': False,
// 'shape': (3, 4), }
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& label, std::size_t max_elements)
      : text_(text), label_(&label), max_elements_(max_elements) {}

  NpyHeader parse() {
    NpyHeader header;
    int seen = 0;
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr")
        header.type = string(), seen |= 1;
      else if (key == "fortran_order")
        header.fortran = boolean(), seen |= 2;
      else if (key == "shape")
        shape(header), seen |= 4;
      else
        fail("an unknown key");
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (seen != 7) fail("a missing key");
    return header;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw DataError(fmt::format("{}: the .npy header has {}", *label_, what),
                    "write the array with numpy.save");
  }
  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool accept(char c) {
    skip_spaces();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail("a syntax error");
  }
  std::string string() {
    skip_spaces();
    const char quote = at_ < text_.size() ? text_[at_] : ' ';
    if (quote != '\'' && quote != '"') fail("a syntax error");
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail("a syntax error");
    std::string result(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return result;
  }
  bool boolean() {
    skip_spaces();
    for (const std::string_view word : {"True", "False"}) {
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return word == "True";
      }
    }
    fail("a syntax error");
  }
  void shape(NpyHeader& header) {
    expect('(');
    while (!accept(')')) {
      std::size_t size = 0;
      skip_spaces();
      const std::size_t begin = at_;
      for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
        size = size * 10 + static_cast<std::size_t>(text_[at_] - '0');
        if (size > max_elements_) fail(fmt::format("more than {} elements", max_elements_));
      }
      if (at_ == begin) fail("a syntax error");
      if (header.shape.size() == kMaxNpyDimensions) fail("too many dimensions");
      header.shape.push_back(size);
      if (size != 0 && header.elements > max_elements_ / size) {
        fail(fmt::format("more than {} elements", max_elements_));
      }
      header.elements *= size;
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
  }

  std::string_view text_;
  const std::string* label_;
  std::size_t max_elements_, at_ = 0;
};

// Also: how many bytes stand before the array.
NpyHeader read_header(ByteSource& source, const std::string& label, const NpyLimits& limits) {
  const auto fail = [&](std::string_view what) {
    throw DataError(fmt::format("{}: {}", label, what));
  };
  std::array<char, 8> start{};
  if (source.read(start) != start.size() || std::string_view(start.data(), 6) != kMagic) {
    fail("not a .npy file");
  }
  const int version = static_cast<unsigned char>(start[6]);
  if (version < 1 || version > 3) fail("the version of the .npy format must be 1, 2 or 3");
  std::uint32_t length = 0;
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  if (source.read({reinterpret_cast<char*>(&length), length_bytes}) != length_bytes) {
    fail("the .npy header is incomplete");
  }
  if (length > kMaxHeader) fail("the .npy header is too long");
  std::string text(length, '\0');
  if (source.read(text) != text.size()) fail("the .npy header is incomplete");
  NpyHeader header = HeaderParser(text, label, limits.max_elements).parse();
  if (header.fortran && header.shape.size() > 1) {
    throw DataError(fmt::format("{}: the array is in Fortran order", label),
                    "save numpy.ascontiguousarray(array)");
  }
  header.bytes = start.size() + length_bytes + length;
  return header;
}

NpyArray read_array(NpyReader reader) {
  NpyArray array{reader.shape(), {}};
  constexpr std::size_t kStep = 1U << 16;
  while (reader.left() > 0) {  // memory grows with what the file really holds
    const std::size_t before = array.values.size();
    array.values.resize(before + std::min(reader.left(), kStep));
    reader.read(std::span(array.values).subspan(before));
  }
  return array;
}

}  // namespace

NpyReader::NpyReader(const std::string& path, const NpyLimits& limits)
    : NpyReader(open_bytes(path), path, limits) {}

NpyReader::NpyReader(std::unique_ptr<ByteSource> source, std::string label, const NpyLimits& limits)
    : source_(std::move(source)), label_(std::move(label)) {
  const NpyHeader header = read_header(*source_, label_, limits);
  type_ = header.type;
  shape_ = header.shape;
  left_ = header.elements;
  constexpr std::string_view kTypes[] = {"<f8", "<f4", "<i8", "<i4", "|u1"};
  if (std::find(std::begin(kTypes), std::end(kTypes), type_) == std::end(kTypes))
    throw DataError(fmt::format("{}: the array's type is not one of f4, f8, i4, i8, u1", label_),
                    "save array.astype('<f8')");
  read({});  // an empty array has its end here
}

template <class T>
void NpyReader::read_as(std::span<double> out) {
  if (out.empty()) return;
  buffer_.resize(out.size() * sizeof(T));
  if (source_->read(buffer_) != buffer_.size()) {
    throw DataError(fmt::format("{}: the file ends before its array does", label_),
                    "the file is incomplete");
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    T value;
    std::memcpy(&value, buffer_.data() + i * sizeof(T), sizeof(T));
    out[i] = static_cast<double>(value);
  }
}

std::size_t NpyReader::read(std::span<double> out) {
  out = out.first(std::min(out.size(), left_));
  if (type_ == "<f8")
    read_as<double>(out);
  else if (type_ == "<f4")
    read_as<float>(out);
  else if (type_ == "<i8")
    read_as<std::int64_t>(out);
  else if (type_ == "<i4")
    read_as<std::int32_t>(out);
  else
    read_as<std::uint8_t>(out);
  left_ -= out.size();
  char extra = 0;
  if (left_ == 0 && source_->read({&extra, 1}) != 0)
    throw DataError(fmt::format("{}: there are bytes after the array", label_));
  return out.size();
}

NpyArray read_npy(const std::string& path, const NpyLimits& limits) {
  return read_array(NpyReader(path, limits));
}

NpyArray parse_npy(std::string_view bytes, const std::string& label, const NpyLimits& limits) {
  return read_array(NpyReader(bytes_of(bytes, label), label, limits));
}

NpyPlace find_npy(const std::string& path, const NpyLimits& limits) {
  const NpyHeader header = read_header(*open_bytes(path), path, limits);
  return {header.type, header.shape, header.bytes};
}

void write_npy(const std::string& path, const NpyArray& array) {
  std::string shape;
  for (const std::size_t size : array.shape) shape += std::to_string(size) + ",";
  std::string header =
      fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}), }}", shape);
  constexpr std::size_t kAlignment = 64, kStart = 10;
  header.append(kAlignment - (kStart + header.size() + 1) % kAlignment, ' ');
  header += '\n';
  std::ofstream out(path, std::ios::binary);
  const auto length = static_cast<std::uint16_t>(header.size());
  out << kMagic << '\x01' << '\0';
  out.write(reinterpret_cast<const char*>(&length), 2);
  out << header;
  out.write(reinterpret_cast<const char*>(array.values.data()),
            static_cast<std::streamsize>(array.values.size() * sizeof(double)));
  out.close();
  if (!out) throw StorageError(fmt::format("{} cannot be written", path));
}

}  // namespace sotto
