#include "sotto/data/encoding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "sotto/core/error.hpp"

namespace sotto {
namespace {

// What Windows has between 0x80 and 0x9f.
constexpr std::array<std::uint16_t, 32> kWindows = {
    0x20ac, 0x81,   0x201a, 0x192,  0x201e, 0x2026, 0x2020, 0x2021, 0x2c6,  0x2030, 0x160,
    0x2039, 0x152,  0x8d,   0x17d,  0x8f,   0x90,   0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
    0x2013, 0x2014, 0x2dc,  0x2122, 0x161,  0x203a, 0x153,  0x9d,   0x17e,  0x178};

void append(std::string& text, std::uint32_t code) {
  const auto tail = [&](unsigned shift) {
    text += static_cast<char>(0x80 | ((code >> shift) & 0x3f));
  };
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xc0 | (code >> 6));
    tail(0);
  } else if (code < 0x10000) {
    text += static_cast<char>(0xe0 | (code >> 12));
    tail(6);
    tail(0);
  } else {
    text += static_cast<char>(0xf0 | (code >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

class Transcoded final : public ByteSource {
 public:
  Transcoded(std::unique_ptr<ByteSource> raw, Encoding encoding, std::string label)
      : raw_(std::move(raw)), encoding_(encoding), label_(std::move(label)), buffer_(kBuffer) {}

  std::size_t read(std::span<char> out) override {
    std::size_t filled = 0;
    while (filled < out.size()) {
      if (given_ == text_.size() && !refill()) break;
      const std::size_t n = std::min(out.size() - filled, text_.size() - given_);
      std::copy_n(text_.data() + given_, n, out.data() + filled);
      given_ += n;
      filled += n;
    }
    return filled;
  }

 private:
  bool refill() {
    if (ended_) return false;
    text_.clear();
    given_ = 0;
    const std::size_t n = raw_->read(buffer_);
    ended_ = n < buffer_.size();
    for (std::size_t i = 0; i < n; ++i) take(static_cast<unsigned char>(buffer_[i]));
    if (ended_ && (half_ || high_)) damaged();
    return !text_.empty() || !ended_;
  }
  void take(unsigned char byte) {
    if (encoding_ == Encoding::utf_16) return take_half(byte);
    const bool special = encoding_ == Encoding::windows_1252 && byte >= 0x80 && byte < 0xa0;
    append(text_, special ? kWindows[byte - 0x80U] : byte);
  }
  void take_half(unsigned char byte) {
    if (!half_) {
      half_ = byte;
      return;
    }
    const std::uint32_t first = *half_, second = byte;
    half_.reset();
    std::uint32_t unit = big_endian_ ? first << 8 | second : second << 8 | first;
    const bool mark = start_ && (unit == 0xfeff || unit == 0xfffe);
    start_ = false;
    if (mark) {
      big_endian_ = unit == 0xfffe;
      return;
    }
    const bool is_high = unit >= 0xd800 && unit < 0xdc00, is_low = unit >= 0xdc00 && unit < 0xe000;
    if (is_low != high_.has_value()) damaged();
    if (is_high) {
      high_ = unit;
      return;
    }
    if (is_low) unit = 0x10000 + ((*high_ - 0xd800) << 10) + (unit - 0xdc00);
    high_.reset();
    append(text_, unit);
  }
  [[noreturn]] void damaged() const {
    throw DataError(fmt::format("{} is not UTF-16", label_), "check `encoding`");
  }

  static constexpr std::size_t kBuffer = 1U << 16;
  std::unique_ptr<ByteSource> raw_;
  Encoding encoding_;
  std::string label_;
  std::vector<char> buffer_;
  std::string text_;
  std::size_t given_ = 0;
  bool ended_ = false, start_ = true, big_endian_ = false;
  std::optional<std::uint32_t> half_, high_;  // of a unit, of a pair
};

}  // namespace

std::unique_ptr<ByteSource> as_utf8(std::unique_ptr<ByteSource> source, Encoding encoding,
                                    const std::string& label) {
  if (encoding == Encoding::utf_8) return source;
  return std::make_unique<Transcoded>(std::move(source), encoding, label);
}

}  // namespace sotto
