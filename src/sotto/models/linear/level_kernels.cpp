#include "sotto/models/linear/detail/level_kernels.hpp"

#include "sotto/core/vector_clones.hpp"

namespace sotto::detail {
namespace {

SOTTO_CLONES void all_bent_levels(const double* numbers, const double* center,
                                  const double* per_reach, const std::uint32_t* first,
                                  std::size_t count, bool unit, std::uint16_t* __restrict levels) {
  const double stretch = unit ? 2 : 1, shift = unit ? 1 : 0;
  for (std::size_t c = 0; c < count; ++c) {
    const double t = stretch * numbers[c] - shift;
    levels[c] = static_cast<std::uint16_t>(first[c] + bent_level(t, center[c], per_reach[c]));
  }
}

}  // namespace

void bent_levels(const double* numbers, const BentScales& scales, bool unit,
                 std::uint16_t* levels) {
  all_bent_levels(numbers, scales.center.data(), scales.per_reach.data(), scales.first.data(),
                  scales.first.size(), unit, levels);
}

}  // namespace sotto::detail
