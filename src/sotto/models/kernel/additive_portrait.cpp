#include "sotto/models/kernel/detail/additive_portrait.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace sotto {
namespace {

std::string level_name(const ColumnEncoder& feature, std::uint32_t level) {
  constexpr const char* kBooleans[] = {"false", "true", "missing"};
  return feature.is_categorical() ? feature.labels()[level] : kBooleans[level];
}

// In the unit of the target; a margin of a class as it is.
double in_units(double x, const ColumnEncoder& target) {
  return target.is_numeric() ? target.unscaled(x) - target.unscaled(0) : x;
}

// The levels of a column between two places of its scale, in words; and, for a number, its middle.
struct BinInterval {
  std::string words;
  double middle = 0;
};
BinInterval interval(const ColumnScale& scale, const ColumnEncoder& feature, const Encoder& encoder,
                     double from, double to) {
  BinInterval result;
  std::optional<std::uint32_t> first, last;
  for (std::uint32_t l = 0; l < scale.start.size(); ++l) {
    const double middle = scale.start[l] + scale.width[l] / 2;
    if (scale.width[l] <= 0 || !(middle > from && middle <= to)) continue;
    if (!first) first = l;
    last = l;
    if (!feature.is_numeric())
      result.words += (result.words.empty() ? "" : "|") + level_name(feature, l);
  }
  if (!feature.is_numeric() || !first) return result;
  const double low = feature.unscaled(BinnedColumns::start_of(encoder, *first)),
               high = feature.unscaled(BinnedColumns::start_of(encoder, *last + 1));
  return {fmt::format("{:.4g} to {:.4g}", low, high), low / 2 + high / 2};
}

// One curve for each part of a pair's first column: what both say together, over the parts of the
// second.
void add_pairs(const FeatureMap& map, const std::vector<std::vector<double>>& parameters,
               double noise, const Encoder& encoder, const FeatureRow& common, Portrait& portrait) {
  const FeatureDesign& design = map.design();
  for (std::size_t t = 0; t < design.sizes.trees; ++t) {
    const FeatureDesign::Split* const split = design.splits.data() + t * kTreeDepth;
    const std::size_t a = split[0].column, b = split[2].column;
    const ColumnEncoder &first = encoder.features()[a], &second = encoder.features()[b];
    const double cuts_a[] = {-1, split[0].threshold, split[1].threshold, 1},
                 cuts_b[] = {-1, split[2].threshold, split[3].threshold, split[4].threshold, 1};
    for (std::size_t k = 0; k < parameters.size(); ++k) {
      const OneHotBlock::Products products = map.leaf_products(parameters[k]);
      for (std::size_t i = 0; i < 3; ++i) {
        const BinInterval of_a =
            interval(design.columns[a], first, encoder, cuts_a[i], cuts_a[i + 1]);
        PortraitCurve curve{.column = fmt::format("{} ({} {})", second.column().name,
                                                  first.column().name, of_a.words),
                            .of = parameters.size() > 1 ? encoder.target().labels()[k] : ""};
        for (std::size_t j = 0; j < 4; ++j) {
          // The questions in their order: above 1/3, 2/3 of the one; above 1/4, 1/2, 3/4 of the
          // other.
          const unsigned leaf = (i >= 1 ? 16u : 0u) | (i >= 2 ? 8u : 0u) | (j >= 1 ? 4u : 0u) |
                                (j >= 2 ? 2u : 0u) | (j >= 3 ? 1u : 0u);
          FeatureRow row = common;
          row.leaves[t] = static_cast<std::uint8_t>(leaf);
          const std::size_t at = map.leaves().at(t, leaf);
          const double factor =
              static_cast<double>(map.leaves().factor(std::span<const std::uint8_t>(row.leaves)));
          const BinInterval of_b =
              interval(design.columns[b], second, encoder, cuts_b[j], cuts_b[j + 1]);
          if (of_a.words.empty() || of_b.words.empty()) continue;
          PortraitCurve::Point point{
              second.is_numeric() ? of_b.middle : static_cast<double>(j),
              in_units(static_cast<double>(products.of_level[at]) * factor, encoder.target()),
              in_units(2 * noise * map.leaves().scale(at) * factor, encoder.target())};
          if (!second.is_numeric()) point.label = of_b.words;
          curve.points.push_back(std::move(point));
        }
        if (!curve.points.empty()) portrait.curves.push_back(std::move(curve));
      }
    }
  }
}

}  // namespace

bool are_pairs(const FeatureDesign& design) {
  for (std::size_t t = 0; t < design.sizes.trees; ++t) {
    const FeatureDesign::Split* const split = design.splits.data() + t * kTreeDepth;
    if (split[0].column == split[2].column) return false;
    for (const std::size_t i : {0u, 2u, 3u})
      if (split[i].column != split[i + 1].column || split[i].threshold > split[i + 1].threshold)
        return false;
  }
  return true;
}

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
                     value = static_cast<double>(products.of_level[at]) * factor;
        mean += value * columns[j].share[level];
        PortraitCurve::Point point{static_cast<double>(level), value,
                                   in_units(2 * noise * map.main().scale(at) * factor, target)};
        if (feature.is_numeric()) {
          point.x = feature.unscaled(BinnedColumns::start_of(encoder, level) / 2 +
                                     BinnedColumns::start_of(encoder, level + 1) / 2);
        } else {
          point.label = level_name(feature, level);
        }
        curve.points.push_back(std::move(point));
      }
      for (PortraitCurve::Point& point : curve.points)
        point.value = in_units(point.value - mean, target);
      portrait.curves.push_back(std::move(curve));
    }
  }
  map.read(common, row);
  add_pairs(map, parameters, noise, encoder, row, portrait);
  return portrait;
}

}  // namespace sotto
