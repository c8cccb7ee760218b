// Detail: Test data meant to break sums: huge, tiny, cancelling and just-off-the-grid values. For
// the tests of this module only.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "sotto/core/rng.hpp"

namespace sotto::test {

inline double uniform(Rng& rng) {
  return std::ldexp(static_cast<double>(rng.next_u64() >> 11), -53);
}

// One value out of a zoo around the bounds.
inline double hostile_value(Rng& rng, double lower, double upper) {
  const double inf = std::numeric_limits<double>::infinity();
  switch (rng.next_u64() % 14) {
    case 0: return lower;
    case 1: return upper;
    case 2: return std::nextafter(lower, inf);
    case 3: return std::nextafter(upper, -inf);
    case 4: return 1e308;
    case 5: return -1e308;
    case 6: return 5e-324;
    case 7: return -5e-324;
    case 8: return 0.0;
    case 9: return -0.0;
    case 10: return lower / 2 + upper / 2;
    case 11: return std::nextafter(lower / 2 + upper / 2, inf);
    case 12: return lower + (upper - lower) * uniform(rng);
    default: return std::ldexp(uniform(rng) - 0.5, static_cast<int>(rng.next_u64() % 120) - 60);
  }
}

inline std::vector<double> hostile_data(Rng& rng, std::size_t n, double lower, double upper) {
  std::vector<double> data(n);
  for (double& x : data) x = hostile_value(rng, lower, upper);
  return data;
}

}  // namespace sotto::test
