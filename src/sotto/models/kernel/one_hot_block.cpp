#include "sotto/models/kernel/detail/one_hot_block.hpp"

#include <cmath>

namespace sotto {
namespace {
constexpr double kBlockSteps = 0x1p16;
}

OneHotBlock::OneHotBlock(const std::vector<std::vector<double>>& shares, double offset,
                         double reach)
    : reach_(reach) {
  for (const std::vector<double>& group : shares) {
    const std::size_t first = scale_.size();
    first_.push_back(first);
    std::uint64_t squares = 0;
    for (const double share : group) {
      scale_.push_back(static_cast<std::int64_t>(kBlockSteps / std::sqrt(share + offset)));
      mean_.push_back(static_cast<std::int64_t>(static_cast<double>(scale_.back()) * share));
      squares += static_cast<std::uint64_t>(mean_.back() * mean_.back());
    }
    for (std::size_t l = first; l < scale_.size(); ++l) {
      const std::int64_t own = scale_[l] - mean_[l];
      square_.push_back(squares - static_cast<std::uint64_t>(mean_[l] * mean_[l]) +
                        static_cast<std::uint64_t>(own * own));
    }
  }
}

float OneHotBlock::factor_of(std::uint64_t square) const {
  constexpr double kRoundedDown = 1 - 0x1p-40;  // covers every rounding here and where it is used
  if (square == 0) return 0;
  const double exact = reach_ * kBlockSteps / std::sqrt(static_cast<double>(square)) * kRoundedDown;
  const auto rounded = static_cast<float>(exact);
  return static_cast<double>(rounded) > exact ? std::nextafter(rounded, 0.0f) : rounded;
}

OneHotBlock::Products OneHotBlock::products(std::span<const double> parameters) const {
  Products p{std::vector<float>(size()), 0};
  for (std::size_t l = 0; l < size(); ++l) {
    p.of_level[l] =
        static_cast<float>(parameters[l] * static_cast<double>(scale_[l]) / kBlockSteps);
    p.of_means += parameters[l] * static_cast<double>(mean_[l]) / kBlockSteps;
  }
  return p;
}

void OneHotBlock::expand(std::span<const std::int64_t> of_level, std::int64_t all,
                         std::span<int128> sums) const {
  for (std::size_t l = 0; l < size(); ++l)
    sums[l] += static_cast<int128>(scale_[l]) * of_level[l] - static_cast<int128>(mean_[l]) * all;
}

}  // namespace sotto
