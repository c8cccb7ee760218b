#include "sotto/noise/reference_samplers.hpp"

#include <fmt/format.h>

#include "sotto/core/error.hpp"
#include "sotto/noise/bernoulli.hpp"
#include "sotto/noise/detail/dyadic.hpp"
#include "sotto/noise/geometric.hpp"

namespace sotto {

void check_noise_scale(const char* what, double scale) {
  if (scale >= kMinNoiseScale && scale <= kMaxNoiseScale) return;
  throw InvalidArgument(fmt::format("{} must lie in [2^-10, 2^50], got {}", what, scale),
                        "put the values on a grid first (granularity_for) so that the noise has a "
                        "scale the integers can hold");
}

std::int64_t reference_discrete_laplace(Rng& rng, double scale) {
  check_noise_scale("the scale of discrete Laplace noise", scale);
  const auto [t, shift] = detail::dyadic(scale);
  for (;;) {
    const std::uint64_t fine = geometric_exp(rng, t);
    const auto magnitude = shift < 64 ? static_cast<std::int64_t>(fine >> shift) : 0;
    const bool negative = rng.next_u64() >> 63 != 0;
    if (negative && magnitude == 0) continue;
    return negative ? -magnitude : magnitude;
  }
}

std::int64_t reference_discrete_gaussian(Rng& rng, double sigma) {
  check_noise_scale("sigma of discrete Gaussian noise", sigma);
  const auto [m, shift] = detail::dyadic(sigma);
  for (;;) {
    const std::int64_t z = reference_discrete_laplace(rng, sigma);
    const auto magnitude = static_cast<std::uint64_t>(z < 0 ? -z : z);
    if (magnitude > (64 * m) >> shift) continue;  // |z| > 64σ
    const auto distance = static_cast<int128>(magnitude << shift) - static_cast<int128>(m);
    if (bernoulli_exp(rng, static_cast<uint128>(distance * distance),
                      2 * static_cast<uint128>(m) * m))
      return z;
  }
}

}  // namespace sotto
