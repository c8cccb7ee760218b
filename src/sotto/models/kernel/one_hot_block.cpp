#include "sotto/models/kernel/detail/one_hot_block.hpp"

#include <algorithm>
#include <cmath>

namespace sotto {
namespace {
constexpr double kBlockSteps = 0x1p16;
}

OneHotBlock::OneHotBlock(const std::vector<Group>& groups, double offset, double reach)
    : reach_(reach) {
  for (const Group& group : groups) {
    const std::size_t levels = group.shares.size(), first = square_.size();
    first_.push_back(first);
    square_.resize(first + levels);
    for (const GroupLayer& layer : group.layers) add_layer(group, layer, offset, first);
  }
}

void OneHotBlock::add_layer(const Group& group, const GroupLayer& layer, double offset,
                            std::size_t first_level) {
  const std::size_t together = layer.together, levels = group.shares.size(), first = scale_.size();
  layers_.push_back({first_level, levels, together, first});
  std::uint64_t squares = 0;
  for (std::size_t l = 0; l < levels; l += together) {
    double share = 0;
    for (std::size_t k = l; k < std::min(levels, l + together); ++k) share += group.shares[k];
    scale_.push_back(
        static_cast<std::int64_t>(kBlockSteps * layer.weight / std::sqrt(share + offset)));
    mean_.push_back(static_cast<std::int64_t>(static_cast<double>(scale_.back()) * share));
    squares += static_cast<std::uint64_t>(mean_.back() * mean_.back());
  }
  for (std::size_t l = 0; l < levels; ++l) {
    const std::size_t at = first + l / together;
    const std::int64_t own = scale_[at] - mean_[at];
    square_[first_level + l] += squares - static_cast<std::uint64_t>(mean_[at] * mean_[at]) +
                                static_cast<std::uint64_t>(own * own);
  }
}

double OneHotBlock::scale(std::size_t at) const {
  double square = 0;
  for (const Layer& layer : layers_) {
    if (at < layer.first_level || at >= layer.first_level + layer.levels) continue;
    const double own = static_cast<double>(scale_[layer.coordinate(at - layer.first_level)]);
    square += own * own;
  }
  return std::sqrt(square) / kBlockSteps;
}

float OneHotBlock::factor_of(std::uint64_t square) const {
  constexpr double kRoundedDown = 1 - 0x1p-40;  // covers every rounding here and where it is used
  if (square == 0) return 0;
  const double exact = reach_ * kBlockSteps / std::sqrt(static_cast<double>(square)) * kRoundedDown;
  const auto rounded = static_cast<float>(exact);
  return static_cast<double>(rounded) > exact ? std::nextafter(rounded, 0.0f) : rounded;
}

OneHotBlock::Products OneHotBlock::products(std::span<const double> parameters) const {
  std::vector<double> of_level(levels());
  for (const Layer& layer : layers_) {
    for (std::size_t l = 0; l < layer.levels; ++l) {
      const std::size_t at = layer.coordinate(l);
      of_level[layer.first_level + l] +=
          parameters[at] * static_cast<double>(scale_[at]) / kBlockSteps;
    }
  }
  Products p{{of_level.begin(), of_level.end()}, 0};
  for (std::size_t c = 0; c < size(); ++c)
    p.of_means += parameters[c] * static_cast<double>(mean_[c]) / kBlockSteps;
  return p;
}

void OneHotBlock::expand(std::span<const std::int64_t> of_level, std::int64_t all,
                         std::span<int128> sums) const {
  for (const Layer& layer : layers_) {
    for (std::size_t l = 0; l < layer.levels; ++l) {
      const std::size_t at = layer.coordinate(l);
      sums[at] += static_cast<int128>(scale_[at]) * of_level[layer.first_level + l];
    }
  }
  for (std::size_t c = 0; c < size(); ++c) sums[c] -= static_cast<int128>(mean_[c]) * all;
}

}  // namespace sotto
