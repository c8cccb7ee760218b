#include "sotto/models/kernel/detail/feature_map.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "sotto/core/error.hpp"

namespace sotto {
namespace {

constexpr double kBandwidth = 0.8;
constexpr double kMainOffset = 0.01, kLeafOffset = 0.05;
constexpr double kSteps = 0x1p16;

// All rows together have this squared norm; divided by it they lie in the unit ball.
double whole() { return 1 + kIntercept * kIntercept; }
double reach(double part) { return std::sqrt(part / whole()) * (1 - 0x1p-40); }

double uniform(Rng& rng) { return (static_cast<double>(rng.next_u64() >> 11) + 0.5) * 0x1p-53; }

double normal(Rng& rng) {
  const double u = uniform(rng), v = uniform(rng);
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
}

std::uint16_t main_level(double place) {
  return static_cast<std::uint16_t>(
      std::min<double>(kMainLevels - 1, std::floor(place * kMainLevels)));
}

// Shares of the parts of a number's scale: each bin's records are spread evenly over its piece.
std::vector<double> part_shares(const ColumnScale& scale) {
  std::vector<double> shares(kMainLevels);
  for (std::size_t l = 0; l < scale.share.size(); ++l) {
    const double start = scale.start[l], end = start + scale.width[l];
    for (std::size_t part = 0; part < kMainLevels && end > start; ++part) {
      const double a = static_cast<double>(part) / kMainLevels,
                   b = static_cast<double>(part + 1) / kMainLevels;
      const double common = std::min(b, end) - std::max(a, start);
      if (common > 0) shares[part] += scale.share[l] * common / (end - start);
    }
  }
  return shares;
}

std::vector<std::vector<double>> main_shares(const FeatureDesign& design) {
  std::vector<std::vector<double>> shares;
  for (std::size_t j = 0; j < design.columns.size(); ++j)
    shares.push_back(design.numeric[j] ? part_shares(design.columns[j]) : design.columns[j].share);
  return shares;
}

// Each pair as a tree: the first column in three parts, the second in four. Pairs in the order of
// the product of their shares, fewer than wanted where there are fewer columns.
std::vector<FeatureDesign::Split> pair_splits(const std::vector<ColumnScale>& columns,
                                              std::size_t wanted) {
  const std::vector<double> p = drawing_shares(columns);
  struct Pair {
    std::uint32_t a, b;
    double weight;
  };
  std::vector<Pair> pairs;
  for (std::uint32_t a = 0; a < p.size(); ++a)
    for (std::uint32_t b = 0; b < a; ++b) pairs.push_back({a, b, p[a] * p[b]});
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const Pair& x, const Pair& y) { return x.weight > y.weight; });
  std::vector<FeatureDesign::Split> splits;
  for (std::size_t i = 0; i < std::min(wanted, pairs.size()); ++i) {
    for (const double cut : {1.0 / 3, 2.0 / 3}) splits.push_back({pairs[i].a, cut});
    for (const double cut : {0.25, 0.5, 0.75}) splits.push_back({pairs[i].b, cut});
  }
  return splits;
}

}  // namespace

FeatureDesign FeatureDesign::draw(const FeatureSizes& sizes, std::vector<ColumnScale> columns,
                                  std::vector<bool> numeric, Rng& rng) {
  FeatureDesign design{
      .sizes = sizes, .columns = std::move(columns), .numeric = std::move(numeric)};
  const std::vector<double> p = drawing_shares(design.columns);
  for (std::size_t k = 0; k < sizes.fourier; ++k) {
    for (const double share : p)
      design.directions.push_back(
          static_cast<float>(normal(rng) / kBandwidth * std::sqrt(3 * share)));
  }
  if (sizes.pairs) {
    design.splits = pair_splits(design.columns, sizes.trees);
    design.sizes.trees = design.splits.size() / kTreeDepth;
  }
  for (std::size_t s = design.splits.size(); s < design.sizes.trees * kTreeDepth; ++s) {
    double left = uniform(rng);
    std::uint32_t column = 0;
    while (column + 1 < p.size() && left > p[column]) left -= p[column++];
    design.splits.push_back({column, uniform(rng)});
  }
  design.fourier_means.resize(2 * sizes.fourier);
  design.leaf_shares.assign(design.sizes.trees,
                            std::vector<double>(std::size_t{1} << kTreeDepth,
                                                std::ldexp(1.0, -static_cast<int>(kTreeDepth))));
  return design;
}

std::vector<double> FeatureDesign::places(std::span<const BinnedColumns::Cell> cells) const {
  std::vector<double> u(columns.size());
  for (std::size_t j = 0; j < u.size(); ++j) u[j] = std::clamp(columns[j].at(cells[j]), 0.0, 1.0);
  return u;
}

std::uint16_t FeatureDesign::leaf(std::size_t tree, std::span<const double> places) const {
  unsigned leaf = 0;
  for (std::size_t s = tree * kTreeDepth; s < (tree + 1) * kTreeDepth; ++s)
    leaf = 2 * leaf + (places[splits[s].column] > splits[s].threshold ? 1u : 0u);
  return static_cast<std::uint16_t>(leaf);
}

void FeatureDesign::waves(std::span<const double> places, std::span<float> out) const {
  for (std::size_t k = 0; k < sizes.fourier; ++k) {
    float angle = 0;
    const float* direction = directions.data() + k * places.size();
    for (std::size_t j = 0; j < places.size(); ++j)
      angle += direction[j] * static_cast<float>(2 * places[j] - 1);
    out[2 * k] = std::cos(angle);
    out[2 * k + 1] = std::sin(angle);
  }
}

FeatureMap::FeatureMap(FeatureDesign design)
    : design_(std::move(design)),
      main_(main_shares(design_), kMainOffset, reach(design_.sizes.main)),
      leaves_(design_.leaf_shares, kLeafOffset, reach(design_.sizes.tree_part)) {}

double FeatureMap::intercept() {
  return std::trunc(reach(kIntercept * kIntercept) * kSteps) / kSteps;
}

void FeatureMap::read(std::span<const BinnedColumns::Cell> cells, FeatureRow& row) const {
  const std::vector<double> places = design_.places(cells);
  row.main.resize(cells.size());
  for (std::size_t j = 0; j < cells.size(); ++j)
    row.main[j] =
        design_.numeric[j] ? main_level(places[j]) : static_cast<std::uint16_t>(cells[j].level);
  row.main_factor = main_.factor(row.main);
  row.leaves.resize(design_.sizes.trees);
  for (std::size_t t = 0; t < row.leaves.size(); ++t) row.leaves[t] = design_.leaf(t, places);
  row.leaf_factor = leaves_.factor(row.leaves);
  row.fourier.resize(fourier());
  design_.waves(places, row.fourier);
  double square = 0;
  for (std::size_t k = 0; k < row.fourier.size(); ++k) {
    row.fourier[k] -= design_.fourier_means[k];
    square += static_cast<double>(row.fourier[k]) * static_cast<double>(row.fourier[k]);
  }
  // A sum of n squares is off by at most n·2^−53 of itself; there are at most 2^17 of them.
  constexpr double kSummedUp = 1 - 0x1p-35;
  const double scale =
      square > 0 ? reach(design_.sizes.fourier_part) / std::sqrt(square) * kSummedUp : 0;
  for (float& x : row.fourier)
    x = static_cast<float>(std::trunc(static_cast<double>(x) * scale * kSteps) / kSteps);
}

OneHotBlock::Products FeatureMap::main_products(std::span<const double> parameters) const {
  return main_.products(parameters.subspan(1, main_.size()));
}
OneHotBlock::Products FeatureMap::leaf_products(std::span<const double> parameters) const {
  return leaves_.products(parameters.subspan(1 + main_.size() + fourier(), leaves_.size()));
}

double FeatureMap::margin(std::span<const double> parameters, const OneHotBlock::Products& main,
                          const OneHotBlock::Products& leaves, const FeatureRow& row) const {
  double sum = parameters[0] * intercept() + main_.product(main, row.main, row.main_factor);
  if (leaves_.groups() > 0) sum += leaves_.product(leaves, row.leaves, row.leaf_factor);
  const double* theta = parameters.data() + 1 + main_.size();
  for (std::size_t k = 0; k < row.fourier.size(); ++k)
    sum += theta[k] * static_cast<double>(row.fourier[k]);
  return sum;
}

}  // namespace sotto
