#include "sotto/models/kernel/detail/additive_portrait.hpp"

#include <algorithm>

namespace sotto {
namespace {

// In the unit of the target; a margin of a class as it is.
double in_units(double x, const ColumnEncoder& target) {
  return target.is_numeric() ? target.unscaled(x) - target.unscaled(0) : x;
}

}  // namespace

Portrait additive_portrait(const FeatureMap& map,
                           const std::vector<std::vector<double>>& parameters, double noise,
                           const Encoder& encoder) {
  Portrait portrait;
  const std::vector<ColumnScale>& columns = map.design().columns;
  const ColumnEncoder& target = encoder.target();
  std::vector<BinnedColumns::Cell> common(columns.size());
  for (std::size_t j = 0; j < columns.size(); ++j)
    common[j].level = static_cast<std::uint32_t>(
        std::max_element(columns[j].share.begin(), columns[j].share.end()) -
        columns[j].share.begin());
  FeatureRow row;
  for (std::size_t j = 0; j < columns.size(); ++j) {
    const ColumnEncoder& feature = encoder.features()[j];
    for (std::size_t k = 0; k < parameters.size(); ++k) {
      const OneHotBlock::Products products = map.main_products(parameters[k]);
      PortraitCurve curve{.column = feature.column().name,
                          .of = parameters.size() > 1 ? target.labels()[k] : ""};
      double mean = 0;
      for (std::uint32_t level = 0; level < columns[j].share.size(); ++level) {
        std::vector<BinnedColumns::Cell> cells = common;
        cells[j].level = level;
        map.read(cells, row);
        const std::size_t at = map.main().at(j, row.main[j]);
        const double factor = static_cast<double>(row.main_factor),
                     value = products.of_level[at] * factor;
        mean += value * columns[j].share[level];
        PortraitCurve::Point point{static_cast<double>(level), value,
                                   in_units(2 * noise * map.main().scale(at) * factor, target)};
        if (feature.is_numeric()) {
          point.x = feature.unscaled(BinnedColumns::start_of(encoder, level) / 2 +
                                     BinnedColumns::start_of(encoder, level + 1) / 2);
        } else {
          constexpr const char* kBooleans[] = {"false", "true", "missing"};
          point.label = feature.is_categorical() ? feature.labels()[level] : kBooleans[level];
        }
        curve.points.push_back(std::move(point));
      }
      for (PortraitCurve::Point& point : curve.points)
        point.value = in_units(point.value - mean, target);
      portrait.curves.push_back(std::move(curve));
    }
  }
  return portrait;
}

}  // namespace sotto
