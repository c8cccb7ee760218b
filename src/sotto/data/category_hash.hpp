// Categories too many to be listed, as one of few buckets: a keyed hash.
//
// What       A value of the column falls into one of `buckets` buckets, each a category like any.
// Guarantee  A function of the cell and of what the schema declares, which every model carries: the
//            same value is in the same bucket in every row, file and program. Nothing is learnt
//            from the data, and no value that occurs is written anywhere.
// Method     64 bits of SipHash-2-4 [AB12] of the value without spaces around it, under the first
//            128 bits of the SHA-256 of the declared key; the bucket is their upper part times
//            `buckets`. Without the key nobody can make up values that meet in one bucket; columns
//            of different keys collide differently. The key hides nothing of a model: it is in it.
// Numerics   Integers alone. A bucket has a share of all hashes within 2⁻⁴⁸ of 1/buckets.
// Reference  [AB12], [WDLSA09]; docs/reference/schema.md, section "Many categories".
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sotto {

// What a schema declares.
struct CategoryHash {
  std::size_t buckets = 0;  // 0: the values of the column are listed
  std::string key = {};
  static constexpr std::size_t kFewestBuckets = 2, kMostBuckets = 65535, kLongestKey = 256;
  static constexpr std::size_t kDraftedBuckets = 256;
  friend bool operator==(const CategoryHash&, const CategoryHash&) = default;

  bool hashes() const { return buckets > 0; }
  std::vector<std::string> labels() const;  // of the buckets: "#0", "#1", …
};

// The same, ready to be asked for every cell of a file.
class CategoryBuckets {
 public:
  explicit CategoryBuckets(const CategoryHash& hash);
  std::uint32_t of(std::string_view value) const;

 private:
  std::uint64_t buckets_, first_, second_;  // halves of the key
};

// 64 bits of SipHash-2-4; the key as two little-endian halves.
std::uint64_t siphash(std::string_view text, std::uint64_t first, std::uint64_t second);

}  // namespace sotto
