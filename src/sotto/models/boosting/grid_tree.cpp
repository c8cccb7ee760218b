#include "sotto/models/boosting/detail/grid_tree.hpp"

#include <algorithm>

namespace sotto {

std::uint8_t place_of(const ColumnScale& scale, const BinnedColumns::Cell& cell) {
  const double place = std::clamp(scale.at(cell), 0.0, 1.0) * static_cast<double>(kPlaces);
  return static_cast<std::uint8_t>(std::min(place, static_cast<double>(kPlaces - 1)));
}

std::vector<std::size_t> GridTree::shape() const {
  std::vector<std::size_t> result;
  for (const std::vector<std::uint32_t>& of_column : cuts) result.push_back(of_column.size() + 1);
  return result;
}

std::size_t GridTree::leaves() const {
  std::size_t product = 1;
  for (const std::size_t intervals : shape()) product *= intervals;
  return product;
}

std::vector<GridTree::Table> GridTree::tables() const {
  std::vector<Table> result(columns.size());
  std::size_t stride = leaves();
  for (std::size_t c = 0; c < columns.size(); ++c) {
    stride /= cuts[c].size() + 1;
    for (std::size_t place = 0; place < kPlaces; ++place) {
      const auto interval =
          std::upper_bound(cuts[c].begin(), cuts[c].end(), place) - cuts[c].begin();
      result[c][place] = static_cast<std::uint8_t>(static_cast<std::size_t>(interval) * stride);
    }
  }
  return result;
}

}  // namespace sotto
