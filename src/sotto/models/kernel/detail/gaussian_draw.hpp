// Detail: random numbers that shape features: public draws in floating point, never noise on a
// release.
#pragma once

#include <cmath>
#include <numbers>

#include "sotto/core/rng.hpp"

namespace sotto {

inline double even_draw(Rng& rng) {  // in (0, 1)
  return (static_cast<double>(rng.next_u64() >> 11) + 0.5) * 0x1p-53;
}
inline double normal_draw(Rng& rng) {
  const double u = even_draw(rng), v = even_draw(rng);
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
}

}  // namespace sotto
