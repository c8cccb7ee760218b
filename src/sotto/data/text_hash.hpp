// Free text as a vector of bounded norm: hashed words and runs of characters.
//
// What       Each word of a text, each run of up to `words` words and each run of `characters`
//            characters within a word falls into one of `buckets` coordinates, where it counts +1
//            or −1; the counts are scaled to ℓ2 norm 1. A text without words is the null vector.
// Guarantee  A public function of the cell and the declared numbers. For every input whatever the
//            vector is finite and has ℓ2 norm ≤ 1, as real numbers: a text counts no more than any
//            other column, however long it is.
// Method     A word is a run of letters and digits (ASCII letters in lower case) and bytes beyond
//            ASCII. Bucket and sign are bits of one 64-bit hash, without a secret: it hides
//            nothing, it only makes few coordinates of many words. Signs let collisions cancel on
//            average.
// Numerics   Counts are integers, their squares add up exactly; the factor 1/‖counts‖ is rounded
//            down by 2⁻⁴⁹, more than all roundings after it.
// Reference  [WDLSA09]; docs/reference/schema.md, section "Text".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace sotto {

struct TextHash {
  std::size_t buckets = 128;   // 2 to kMostBuckets
  std::size_t words = 1;       // runs of 1 to so many words, at most kMostWords
  std::size_t characters = 0;  // also runs of so many characters of a word; 0: none
  static constexpr std::size_t kMostBuckets = 65536, kMostWords = 5, kMostCharacters = 10;
  friend bool operator==(const TextHash&, const TextHash&) = default;

  void write(std::string_view cell, std::span<double> out) const;  // out: `buckets` numbers
};

}  // namespace sotto
