#include "sotto/mechanisms/covering_noise.hpp"

#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/noise/grid.hpp"

namespace sotto {
namespace {

LatticeNoise noise(Relation relation, const Budget& budget, double distance, std::size_t dimension,
                   std::size_t addends) {
  const double root = std::sqrt(static_cast<double>(dimension)) * (1 + 0x1p-50);
  const double l2 = 2 * distance;
  const double granularity =
      LatticeNoise::granularity_for_budget(budget, {.l1 = root * l2, .l2 = l2}, dimension);
  const double steps = (l2 / granularity + static_cast<double>(addends) * root) * (1 + 0x1p-50);
  return {relation, budget, granularity, {.l1 = root * steps, .l2 = steps}, dimension};
}

}  // namespace

CoveringNoise::CoveringNoise(Relation relation, const Budget& budget, double distance,
                             std::size_t dimension, std::size_t addends)
    : noise_(noise(relation, budget, distance, dimension, addends)) {}

std::vector<int128> CoveringNoise::draw(Rng& rng) const {
  const std::vector<int128> zero(noise_.dimension());
  return noise_.add(zero, rng);
}

std::vector<double> CoveringNoise::release(std::initializer_list<std::span<const double>> vectors,
                                           std::vector<int128> sum) const {
  for (const std::span<const double> v : vectors) {
    for (std::size_t j = 0; j < sum.size(); ++j) {
      if (!std::isfinite(v[j])) invariant_broken("a value to be released is not finite");
      sum[j] += to_grid(v[j], noise_.granularity());
    }
  }
  std::vector<double> result;
  result.reserve(sum.size());
  for (int128 steps : sum) result.push_back(from_grid(steps, noise_.granularity()));
  return result;
}

}  // namespace sotto
