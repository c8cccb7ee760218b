// Detail: the levels of many numbers at once (code_book.hpp), a function of each alone.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace sotto::detail {

// Levels on one side of the centre are as dense as a logarithmic scale bends: 1 + kLevelBend·(share
// of the reach), rounded to kLevelBits bits behind the leading one; ten octaves of them.
inline constexpr int kLevelBits = 6;
inline constexpr float kLevelBend = 1000;
inline constexpr std::uint32_t kLevelSide = 640;

struct BentScale {
  double center, per_reach;  // of a number with its bounds at −1 and 1
  std::uint32_t first;       // level 0 of its column
};

// Counted from level 0 of the column, which is null: 1 to 2·kLevelSide.
inline std::uint32_t bent_level(double t, double center, double per_reach) {
  constexpr int kShift = 23 - kLevelBits;
  constexpr std::uint32_t kFrom = std::bit_cast<std::uint32_t>(1.0f);
  const double off = t - center, share = std::fabs(off) * per_reach;
  const float far = static_cast<float>(share < 1 ? share : 1) * kLevelBend + 1.0f;
  const std::uint32_t step =
      (std::bit_cast<std::uint32_t>(far) - kFrom + (1U << (kShift - 1))) >> kShift;
  return 1 + step + (off < 0 ? kLevelSide : 0);
}

// levels[c] = scales[c].first + bent_level(numbers[c], …) for c < count. unit: numbers are in
// [0, 1].
void bent_levels(const double* numbers, const BentScale* scales, std::size_t count, bool unit,
                 std::uint16_t* levels);

}  // namespace sotto::detail
