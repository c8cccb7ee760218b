#include "sotto/models/kernel/detail/column_uses.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/models/kernel/detail/gaussian_draw.hpp"

namespace sotto {
namespace {

constexpr double kFound = 0.8;                                   // the rest is even
constexpr std::size_t kRows = 12000, kMost = 400, kFewest = 40;  // made-up records
constexpr std::size_t kNulls = 2;                                // parameters of pure noise

// A level by its width on the scale, and a place inside of it.
BinnedColumns::Cell made_up(const ColumnScale& scale, Rng& rng) {
  double left = even_draw(rng);
  const auto inside = static_cast<float>(even_draw(rng));
  std::uint32_t level = 0;
  while (level + 1 < scale.width.size() && left > scale.width[level]) left -= scale.width[level++];
  return {level, inside};
}

class Outputs {
 public:
  Outputs(const FeatureMap& map, const std::vector<std::vector<double>>& parameters)
      : map_(map), parameters_(parameters) {
    for (const std::vector<double>& theta : parameters_) {
      main_.push_back(map.main_products(theta));
      leaves_.push_back(map.leaf_products(theta));
    }
  }
  std::vector<double> of(const FeatureRow& row) const {
    std::vector<double> out;
    for (std::size_t k = 0; k < parameters_.size(); ++k)
      out.push_back(map_.margin(parameters_[k], main_[k], leaves_[k], row));
    return out;
  }

 private:
  const FeatureMap& map_;
  const std::vector<std::vector<double>>& parameters_;
  std::vector<OneHotBlock::Products> main_, leaves_;
};

}  // namespace

std::vector<double> column_uses(const FeatureMap& map,
                                const std::vector<std::vector<double>>& parameters, double noise,
                                Rng& rng) {
  const std::vector<ColumnScale>& columns = map.design().columns;
  const std::size_t d = columns.size(), found = parameters.size();
  std::vector<std::vector<double>> all = parameters;
  for (std::size_t k = 0; k < kNulls; ++k) {
    all.emplace_back(map.dimension());
    for (double& x : all.back()) x = noise * normal_draw(rng);
  }
  const Outputs outputs(map, all);
  const std::size_t rows = std::clamp(kRows / d, kFewest, kMost);
  std::vector<double> effect(d);
  FeatureRow row;
  std::vector<BinnedColumns::Cell> cells(d);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < d; ++j) cells[j] = made_up(columns[j], rng);
    map.read(cells, row);
    const std::vector<double> at = outputs.of(row);
    for (std::size_t j = 0; j < d; ++j) {
      const BinnedColumns::Cell own = cells[j];
      cells[j] = made_up(columns[j], rng);
      map.read(cells, row);
      const std::vector<double> moved = outputs.of(row);
      cells[j] = own;
      for (std::size_t k = 0; k < at.size(); ++k) {
        const double square = (moved[k] - at[k]) * (moved[k] - at[k]);
        effect[j] +=
            k < found ? square : -square * static_cast<double>(found) / static_cast<double>(kNulls);
      }
    }
  }
  double total = 0;
  for (double& e : effect) total += e = std::cbrt(std::max(0.0, e));
  if (!(total > 0)) return drawing_shares(columns);
  for (double& e : effect) e = kFound * e / total + (1 - kFound) / static_cast<double>(d);
  return effect;
}

}  // namespace sotto
