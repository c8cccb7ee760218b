#include "sotto/noise/geometric.hpp"

#include <fmt/format.h>

#include "sotto/core/error.hpp"
#include "sotto/noise/bernoulli.hpp"
#include "sotto/noise/uniform.hpp"

namespace sotto {

std::uint64_t geometric(Rng& rng, std::uint64_t p, std::uint64_t q) {
  if (p == 0 || p > q)
    throw InvalidArgument(
        fmt::format("a geometric draw needs a success probability p/q in (0, 1], not {}/{}", p, q));
  std::uint64_t failures = 0;
  while (uniform_below(rng, q) >= p) ++failures;
  return failures;
}

std::uint64_t geometric_exp(Rng& rng, std::uint64_t t) {
  constexpr std::uint64_t kMaxRuns = 511;
  if (t == 0 || t > std::uint64_t{1} << 53) {
    throw InvalidArgument(fmt::format("a geometric draw needs a scale in [1, 2^53], not {}", t));
  }
  for (;;) {
    const std::uint64_t remainder = uniform_below(rng, t);
    if (!bernoulli_exp(rng, remainder, t)) continue;
    std::uint64_t runs = 0;
    while (runs <= kMaxRuns && bernoulli_exp(rng, 1, 1)) ++runs;
    if (runs <= kMaxRuns) return remainder + t * runs;
  }
}

}  // namespace sotto
