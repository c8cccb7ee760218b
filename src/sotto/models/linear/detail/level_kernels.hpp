// Detail: the levels of many numbers at once (code_book.hpp), a function of each alone.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sotto::detail {

// Levels on one side of the centre are as dense as a logarithmic scale bends: 1 + kLevelBend·(share
// of the reach), rounded to kLevelBits bits behind the leading one; ten octaves of them.
inline constexpr int kLevelBits = 6;
inline constexpr float kLevelBend = 1000;
inline constexpr std::uint32_t kLevelSide = 640;

// Of many columns, one array for each number of theirs: then several columns fit into a vector.
struct BentScales {
  std::vector<double> center, per_reach;  // of numbers with their bounds at −1 and 1
  std::vector<std::uint32_t> first;       // level 0 of their columns
};

// Counted from level 0 of the column, which is null: 1 to 2·kLevelSide. Without a branch: data are
// hard to predict. (Adding 0 makes −0 the 0 that it is.)
inline std::uint32_t bent_level(double t, double center, double per_reach) {
  constexpr int kShift = 23 - kLevelBits;
  constexpr std::uint32_t kFrom = std::bit_cast<std::uint32_t>(1.0f);
  const float off = static_cast<float>((t - center) * per_reach) + 0.0f, share = std::fabs(off);
  const float far = (share < 1 ? share : 1) * kLevelBend + 1.0f;
  const std::uint32_t step =
      (std::bit_cast<std::uint32_t>(far) - kFrom + (1U << (kShift - 1))) >> kShift;
  const std::uint32_t below = 0U - (std::bit_cast<std::uint32_t>(off) >> 31);
  return 1 + step + (below & kLevelSide);
}

// levels[c] = scales.first[c] + bent_level(numbers[c], …) for all columns c. unit: numbers are in
// [0, 1].
void bent_levels(const double* numbers, const BentScales& scales, bool unit, std::uint16_t* levels);

}  // namespace sotto::detail
