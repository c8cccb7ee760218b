// What the tests of both integer samplers share: the exact law and p-values of a sampler against
// it.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "sotto/core/rng.hpp"
#include "support/statistics.hpp"

namespace sotto::test {

using Draw = std::function<std::int64_t(Rng&)>;
using Weight = std::function<long double(long double)>;  // f(|z|), not normalised

inline Weight laplace_weight(double scale) {
  return [=](long double z) { return std::exp(-z / scale); };
}
inline Weight gaussian_weight(double sigma) {
  return [=](long double z) {
    return std::exp(-z * z / (2 * static_cast<long double>(sigma) * sigma));
  };
}

// Chi-square over z in [−reach, reach], one cell each.
inline double law_p(const Draw& draw, const Weight& f, std::int64_t reach, std::uint64_t n,
                    std::uint64_t seed) {
  long double total = f(0);
  for (std::int64_t z = 1; z <= 100 * reach + 100; ++z) total += 2 * f(static_cast<long double>(z));
  std::vector<double> probabilities;
  for (std::int64_t z = -reach; z <= reach; ++z) {
    probabilities.push_back(static_cast<double>(f(static_cast<long double>(std::abs(z))) / total));
  }
  std::vector<std::uint64_t> counts(probabilities.size());
  Rng rng = Rng::insecure_seed(seed);
  for (std::uint64_t i = 0; i < n; ++i) {
    const std::int64_t z = draw(rng);
    if (std::abs(z) <= reach) ++counts[static_cast<std::size_t>(z + reach)];
  }
  return chi_square_p(counts, probabilities, n);
}

// Two-sided p-value of the event's frequency.
inline double frequency_p(const std::function<bool(Rng&)>& event, double probability,
                          std::uint64_t n, std::uint64_t seed) {
  Rng rng = Rng::insecure_seed(seed);
  std::uint64_t hits = 0;
  for (std::uint64_t i = 0; i < n; ++i) hits += event(rng);
  return binomial_p(hits, n, probability);
}

}  // namespace sotto::test
