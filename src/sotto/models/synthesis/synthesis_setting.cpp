#include "sotto/models/synthesis/detail/synthesis_setting.hpp"

#include <algorithm>

namespace sotto {
namespace {

constexpr double kLeastDeviation = 0.5;

}  // namespace

std::vector<double> SynthesisSetting::noised(const LatticeNoise& noise,
                                             const std::vector<int128>& sums, Rng& rng) const {
  const std::vector<int128> noisy = is_private ? noise.add(sums, rng) : sums;
  std::vector<double> natural(noisy.size());
  for (std::size_t i = 0; i < natural.size(); ++i)
    natural[i] = static_cast<double>(noisy[i]) * noise.granularity();
  return natural;
}

double SynthesisSetting::deviation(const LatticeNoise& noise, double weight) const {
  return std::max(kLeastDeviation, is_private ? *noise.info().standard_deviation / weight : 0);
}

}  // namespace sotto
