#include "sotto/data/category_hash.hpp"

#include <fmt/format.h>

#include <bit>
#include <charconv>

#include "sotto/core/digest.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

struct Siphash {
  std::uint64_t v0, v1, v2, v3;

  void round() {
    v0 += v1;
    v2 += v3;
    v1 = std::rotl(v1, 13) ^ v0;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 = std::rotl(v0, 32);
    v2 += v1;
    v0 += v3;
    v1 = std::rotl(v1, 17) ^ v2;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 = std::rotl(v2, 32);
  }
  void add(std::uint64_t word) {
    v3 ^= word;
    round();
    round();
    v0 ^= word;
  }
};

// Up to eight bytes, the first one lowest.
std::uint64_t word_of(std::string_view bytes) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    word |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  return word;
}

std::uint64_t from_hex(std::string_view digits) {
  std::uint64_t value = 0;
  const char* const end = digits.data() + digits.size();
  if (std::from_chars(digits.data(), end, value, 16).ptr != end)
    invariant_broken("a digest is not hexadecimal");
  return value;
}

}  // namespace

std::uint64_t siphash(std::string_view text, std::uint64_t first, std::uint64_t second) {
  Siphash state{first ^ 0x736f6d6570736575, second ^ 0x646f72616e646f6d, first ^ 0x6c7967656e657261,
                second ^ 0x7465646279746573};
  std::string_view rest = text;
  for (; rest.size() >= 8; rest.remove_prefix(8)) state.add(word_of(rest.substr(0, 8)));
  state.add(word_of(rest) | static_cast<std::uint64_t>(text.size() & 0xff) << 56);
  state.v2 ^= 0xff;
  for (int i = 0; i < 4; ++i) state.round();
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

std::vector<std::string> CategoryHash::labels() const {
  std::vector<std::string> labels;
  for (std::size_t b = 0; b < buckets; ++b) labels.push_back(fmt::format("#{}", b));
  return labels;
}

CategoryBuckets::CategoryBuckets(const CategoryHash& hash) : buckets_(hash.buckets) {
  const std::string digest = sha256(hash.key);
  first_ = from_hex(std::string_view(digest).substr(0, 16));
  second_ = from_hex(std::string_view(digest).substr(16, 16));
}

std::uint32_t CategoryBuckets::of(std::string_view value) const {
  // The upper 48 bits: their product with fewer than 2^16 buckets fits into 64.
  return static_cast<std::uint32_t>(((siphash(value, first_, second_) >> 16) * buckets_) >> 48);
}

}  // namespace sotto
