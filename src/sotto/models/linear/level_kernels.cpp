#include "sotto/models/linear/detail/level_kernels.hpp"

#include "sotto/core/vector_clones.hpp"

namespace sotto::detail {

SOTTO_CLONES void bent_levels(const double* numbers, const BentScale* scales, std::size_t count,
                              bool unit, std::uint16_t* __restrict levels) {
  const double stretch = unit ? 2 : 1, shift = unit ? 1 : 0;
  for (std::size_t c = 0; c < count; ++c) {
    const BentScale& scale = scales[c];
    const double t = stretch * numbers[c] - shift;
    levels[c] =
        static_cast<std::uint16_t>(scale.first + bent_level(t, scale.center, scale.per_reach));
  }
}

}  // namespace sotto::detail
