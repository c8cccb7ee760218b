#include "sotto/local/client/coin.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/core/numeric/outward.hpp"

namespace sotto::local {
namespace {

constexpr double kLeastEpsilon = 1e-4, kMostEpsilon = 30;

// All but the smallest and the largest multiple of 2^-64: every answer stays possible.
std::uint64_t inside(long double steps) {
  return static_cast<std::uint64_t>(std::clamp(steps, 1.0L, 0x1p64L - 1));
}

}  // namespace

std::uint64_t dyadic_below(long double p) { return inside(std::floor(p * 0x1p64L)); }
std::uint64_t dyadic_above(long double p) { return inside(std::ceil(p * 0x1p64L)); }

std::uint64_t dyadic_share_above(long double part, long double rest) {
  return part <= rest ? dyadic_above(part / (part + rest)) : 0 - dyadic_below(rest / (part + rest));
}

std::uint64_t biased_word(Rng& rng, std::uint64_t t) {
  std::uint64_t open = ~std::uint64_t{0}, result = 0;
  // From the lowest bit of t that is set on, U agrees with t so far and is not below it.
  for (int bit = 63; open != 0 && t << (63 - bit) != 0; --bit) {
    const std::uint64_t u = rng.next_u64();
    if ((t >> bit & 1) != 0) {
      result |= open & ~u;
      open &= u;
    } else {
      open &= ~u;
    }
    if (bit == 0) break;
  }
  return result;
}

double log_ratio_up(long double a, long double b) {
  const long double l = std::log(a / b);
  return next_up(static_cast<double>(l + 0x1p-58L * std::max(1.0L, l)));
}

long double inner_epsilon(double epsilon) {
  if (!(epsilon >= kLeastEpsilon && epsilon <= kMostEpsilon)) {
    throw InvalidArgument(fmt::format("epsilon of a report is {}; it must be between {} and {}",
                                      epsilon, kLeastEpsilon, kMostEpsilon),
                          "typical values lie between 0.5 (strong) and 4 (weak)");
  }
  return static_cast<long double>(epsilon) * (1 - 0x1p-50L) - 0x1p-54L;
}

}  // namespace sotto::local
