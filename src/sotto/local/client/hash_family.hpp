// Public hash functions, each named by a number.
//
// What       hash_of_seed(s) is a function from 64-bit keys to 32 bits; bucket() maps those to g
//            cells. key_of_word() makes a key of any text.
// Guarantee  None for privacy, and none is needed: reports are private whatever the function is.
//            For estimates: over a random seed, two keys meet in a bucket with probability 1/g, up
//            to g/2^32.
// Method     (a₁·low + a₂·high + b mod 2^64) >> 32, which is pairwise independent for random a₁,
//            a₂, b [DHKP97, Tho15]; they are mixed from the seed.
// Numerics   Integers; the same everywhere.
// Reference  [DHKP97], [Tho15].
#pragma once

#include <cstdint>
#include <string_view>

namespace sotto::local {

// A bijection of 64-bit numbers without structure that a sum of products would notice.
constexpr std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return x ^ x >> 31;
}

struct SeededHash {
  std::uint64_t low, high, add;
  std::uint32_t operator()(std::uint64_t key) const {
    return static_cast<std::uint32_t>((low * (key & 0xFFFFFFFFu) + high * (key >> 32) + add) >> 32);
  }
};

inline SeededHash hash_of_seed(std::uint64_t seed) {
  constexpr std::uint64_t kStep = 0x9E3779B97F4A7C15u;
  return {mixed(seed + kStep), mixed(seed + 2 * kStep), mixed(seed + 3 * kStep)};
}

inline std::uint32_t bucket(std::uint32_t hash, std::uint32_t buckets) {
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(hash) * buckets >> 32);
}

std::uint64_t key_of_word(std::string_view word);

}  // namespace sotto::local
