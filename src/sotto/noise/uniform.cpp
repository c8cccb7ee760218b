#include "sotto/noise/uniform.hpp"

#include <bit>

namespace sotto {

uint128 uniform_below_128(Rng& rng, uint128 n) {
  const auto high = static_cast<std::uint64_t>((n - 1) >> 64);
  if (high == 0) {
    const auto low = static_cast<std::uint64_t>(n);
    return low == 0 ? rng.next_u64() : uniform_below(rng, low);  // low == 0: n is 2^64
  }
  const int unused = std::countl_zero(high);
  for (;;) {
    const std::uint64_t top = rng.next_u64() >> unused;
    const uint128 candidate = static_cast<uint128>(top) << 64 | rng.next_u64();
    if (candidate < n) return candidate;
  }
}

}  // namespace sotto
