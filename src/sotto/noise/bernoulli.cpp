#include "sotto/noise/bernoulli.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/noise/uniform.hpp"

namespace sotto {
namespace {

// True with probability exp(−γ), where coin() has bias γ ≤ 1: the run of successes of coins γ/k is
// even.
template <class Coin>
bool series(Rng& rng, const Coin& coin) {
  std::uint64_t k = 1;
  while (coin() && (k == 1 || uniform_below(rng, k) == 0)) ++k;
  return k % 2 == 1;
}

bool bernoulli_exp_one(Rng& rng) {
  return series(rng, [] { return true; });
}

// True with probability numerator / 2^bits, numerator < 2^53: all bits above the lowest 64 must be
// zero.
bool bernoulli_dyadic(Rng& rng, std::uint64_t numerator, int bits) {
  for (; bits > 64; bits -= 64) {
    if (rng.next_u64() != 0) return false;
  }
  return bits == 0 ? numerator != 0 : rng.next_u64() >> (64 - bits) < numerator;
}

}  // namespace

bool bernoulli(Rng& rng, std::uint64_t p, std::uint64_t q) {
  if (q == 0 || p > q)
    throw InvalidArgument(fmt::format("a coin needs a bias p/q in [0, 1], not {}/{}", p, q));
  return uniform_below(rng, q) < p;
}

bool bernoulli_128(Rng& rng, uint128 p, uint128 q) {
  if (q == 0 || p > q) throw InvalidArgument("a coin needs a bias p/q in [0, 1]");
  return uniform_below_128(rng, q) < p;
}

bool bernoulli_exp(Rng& rng, uint128 numerator, uint128 denominator) {
  if (denominator == 0) throw InvalidArgument("exp(-a/b) needs a denominator of at least 1, not 0");
  for (uint128 units = numerator / denominator; units > 0; --units) {
    if (!bernoulli_exp_one(rng)) return false;
  }
  const uint128 rest = numerator % denominator;
  return series(rng, [&] { return uniform_below_128(rng, denominator) < rest; });
}

bool bernoulli_exp(Rng& rng, double x) {
  if (!(x >= 0))
    throw InvalidArgument(fmt::format("exp(-x) is a probability for x >= 0, not for {}", x));
  if (std::isinf(x)) return false;
  double whole = 0;
  const double fraction = std::modf(x, &whole);  // exact, like all that follows
  while (whole > 0) {
    if (!bernoulli_exp_one(rng)) return false;
    if (whole <= 0x1p53) whole -= 1;  // beyond, the loop ends by a failed coin
  }
  int exponent = 0;
  const auto numerator =
      static_cast<std::uint64_t>(std::ldexp(std::frexp(fraction, &exponent), 53));
  return series(rng, [&] { return bernoulli_dyadic(rng, numerator, 53 - exponent); });
}

}  // namespace sotto
