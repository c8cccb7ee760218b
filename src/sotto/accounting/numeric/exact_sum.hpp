// An exact sum of non-negative doubles: a spend is never lost to rounding, however small.
//
// What       A fixed-point number of 2176 bits, wide enough for every double (2^-1074 … 2^1024)
//            taken 2^64 times.
// Guarantee  add() is exact; comparisons are exact; upper() is the smallest double not below the
//            sum.
// Method     The mantissa times the count, shifted to its place, added with carries.
// Numerics   Integers only.
// Reference  docs/math/filters.md.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>

namespace sotto {

class ExactSum {
 public:
  ExactSum() = default;
  explicit ExactSum(double value) { add(value); }

  void add(double value,
           std::uint64_t count = 1);  // value finite, 0 or more; throws InvalidArgument otherwise
  void add(const ExactSum& other);
  void subtract(const ExactSum& other);  // throws DataError when the other is larger
  double upper() const;                  // rounded up
  bool zero() const;

  std::string hex() const;                           // "0" or digits without leading zeros
  static ExactSum from_hex(const std::string& hex);  // throws DataError

  friend bool operator==(const ExactSum&, const ExactSum&) = default;
  friend std::strong_ordering operator<=>(const ExactSum& a, const ExactSum& b);

 private:
  static constexpr int kLimbs = 34;
  void add_at(std::uint64_t low, std::uint64_t high, int bit);
  std::array<std::uint64_t, kLimbs> limb_{};  // least significant first; bit 0 is 2^-1074
};

}  // namespace sotto
