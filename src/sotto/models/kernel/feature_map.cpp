#include "sotto/models/kernel/detail/feature_map.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <tuple>

#include "sotto/core/error.hpp"
#include "sotto/models/kernel/detail/gaussian_draw.hpp"
#include "sotto/models/kernel/detail/wave_kernels.hpp"

namespace sotto {
namespace {

constexpr double kBandwidth = 0.8;
constexpr float kSlopeTurn = 0.7f;  // along a whole column, to both sides
constexpr double kSpike = 0.3;  // share of one bin: the rest of the column stands close together
constexpr double kFromFound = 0.7;  // of the trees, where pairs were found
constexpr double kMainOffset = 0.01, kLeafOffset = 0.05;
constexpr double kFeatureSteps = 0x1p16;

// All rows together have this squared norm; divided by it they lie in the unit ball.
double whole() { return 1 + kIntercept * kIntercept; }
double reach(double part) { return std::sqrt(part / whole()) * (1 - 0x1p-40); }

std::uint16_t main_level(float place, float parts) {
  return static_cast<std::uint16_t>(std::min(place * parts, parts - 1.0f));
}

// Shares of the parts of a number's scale: each bin's records are spread evenly over its piece.
std::vector<double> part_shares(const ColumnScale& scale, std::size_t parts) {
  std::vector<double> shares(parts);
  for (std::size_t l = 0; l < scale.share.size(); ++l) {
    const double start = scale.start[l], end = start + scale.width[l];
    for (std::size_t part = 0; part < parts && end > start; ++part) {
      const double whole = static_cast<double>(parts), a = static_cast<double>(part) / whole,
                   b = static_cast<double>(part + 1) / whole;
      const double common = std::min(b, end) - std::max(a, start);
      if (common > 0) shares[part] += scale.share[l] * common / (end - start);
    }
  }
  return shares;
}

std::vector<OneHotBlock::Group> main_groups(const FeatureDesign& design) {
  const std::vector<std::size_t>& parts = design.sizes.main_parts;
  std::vector<OneHotBlock::Group> groups;
  for (std::size_t j = 0; j < design.columns.size(); ++j) {
    const double weight = design.weights[j];
    if (!design.numeric[j]) {
      groups.push_back({design.columns[j].share, {{1, weight}}});
      continue;
    }
    OneHotBlock::Group& group =
        groups.emplace_back(OneHotBlock::Group{part_shares(design.columns[j], parts[0]), {}});
    const bool finest = parts.size() == 1 || design.fine[j];
    const double used = static_cast<double>(parts.size() - (finest ? 0 : 1));
    for (std::size_t i = 0; i < parts.size(); ++i)
      group.layers.push_back(
          {parts[0] / parts[i], i == 0 && !finest ? 0 : weight / std::sqrt(used)});
  }
  return groups;
}

std::vector<OneHotBlock::Group> leaf_groups(const FeatureDesign& design) {
  std::vector<OneHotBlock::Group> groups;
  for (const std::vector<double>& shares : design.leaf_shares) groups.push_back({.shares = shares});
  return groups;
}

// Each pair as a tree: the first column in three parts, the second in four. Pairs in the order of
// the product of their shares, fewer than wanted where there are fewer columns.
std::vector<FeatureDesign::Split> pair_splits(const std::vector<double>& p, std::size_t wanted) {
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

// Of the cosine and the sine of a slope: they follow from the shares of the column's levels.
std::pair<float, float> slope_means(const ColumnScale& scale) {
  double even = 0, odd = 0;
  for (std::size_t l = 0; l < scale.share.size(); ++l) {
    const double turn =
        static_cast<double>(kSlopeTurn) * (2 * (scale.start[l] + scale.width[l] / 2) - 1);
    even += scale.share[l] * std::cos(turn);
    odd += scale.share[l] * std::sin(turn);
  }
  return {static_cast<float>(std::clamp(even, -1.0, 1.0)),
          static_cast<float>(std::clamp(odd, -1.0, 1.0))};
}

// Trees of pairs drawn by the roots of their credits: three cuts of one column, two of the other.
std::vector<FeatureDesign::Split> found_splits(std::span<const PairCredit> pairs, std::size_t trees,
                                               Rng& rng) {
  double total = 0;
  for (const PairCredit& pair : pairs) total += std::sqrt(pair.credit);
  std::vector<FeatureDesign::Split> splits;
  for (std::size_t t = 0; t < trees; ++t) {
    double left = even_draw(rng) * total;
    std::size_t p = 0;
    while (p + 1 < pairs.size() && left > std::sqrt(pairs[p].credit))
      left -= std::sqrt(pairs[p++].credit);
    const std::size_t of_first = even_draw(rng) < 0.5 ? 3 : 2, of_second = kTreeDepth - of_first;
    const auto cut = [&](std::uint32_t column, std::size_t cuts) {
      for (std::size_t k = 0; k < cuts; ++k)
        splits.push_back(
            {column, (static_cast<double>(k) + even_draw(rng)) / static_cast<double>(cuts)});
    };
    cut(pairs[p].first, of_first);
    cut(pairs[p].second, of_second);
  }
  return splits;
}

}  // namespace

FeatureDesign FeatureDesign::draw(const FeatureSizes& sizes, std::vector<ColumnScale> columns,
                                  std::vector<bool> numeric, const std::vector<double>& uses,
                                  std::span<const PairCredit> found, Rng& rng) {
  FeatureDesign design{
      .sizes = sizes, .columns = std::move(columns), .numeric = std::move(numeric)};
  const double most = *std::max_element(uses.begin(), uses.end());
  for (const double share : uses) design.weights.push_back(std::sqrt(share / most));
  for (const ColumnScale& scale : design.columns)
    design.fine.push_back(*std::max_element(scale.share.begin(), scale.share.end()) >= kSpike);
  if (sizes.slopes) {
    for (std::size_t k = 0; k < sizes.fourier; ++k)
      for (std::size_t j = 0; j < uses.size(); ++j)
        design.directions.push_back(j == k ? kSlopeTurn : 0.0f);
  }
  for (std::size_t k = 0; k < sizes.fourier && !sizes.slopes; ++k) {
    for (const double share : uses)
      design.directions.push_back(
          static_cast<float>(normal_draw(rng) / kBandwidth * std::sqrt(3 * share)));
  }
  if (sizes.pairs) {
    design.splits = pair_splits(uses, sizes.trees);
    design.sizes.trees = design.splits.size() / kTreeDepth;
  }
  if (!found.empty() && !sizes.pairs)
    design.splits = found_splits(
        found, static_cast<std::size_t>(kFromFound * static_cast<double>(sizes.trees)), rng);
  for (std::size_t s = design.splits.size(); s < design.sizes.trees * kTreeDepth; ++s) {
    double left = even_draw(rng);
    std::uint32_t column = 0;
    while (column + 1 < uses.size() && left > uses[column]) left -= uses[column++];
    design.splits.push_back({column, even_draw(rng)});
  }
  design.fourier_means.resize(2 * sizes.fourier);
  for (std::size_t k = 0; k < sizes.fourier && sizes.slopes; ++k)
    std::tie(design.fourier_means[2 * k], design.fourier_means[2 * k + 1]) =
        slope_means(design.columns[k]);
  design.leaf_shares.assign(design.sizes.trees,
                            std::vector<double>(std::size_t{1} << kTreeDepth,
                                                std::ldexp(1.0, -static_cast<int>(kTreeDepth))));
  return design;
}

FeatureReader::FeatureReader(const FeatureDesign& design)
    : columns_(design.columns),
      numeric_(design.numeric),
      splits_(design.splits),
      parts_(static_cast<float>(design.sizes.main_parts[0])),
      turns_(design.directions.size()),
      pairs_(design.sizes.fourier) {
  for (std::size_t k = 0; k < pairs_; ++k)
    for (std::size_t j = 0; j < columns_.size(); ++j)
      turns_[j * pairs_ + k] =
          design.directions[k * columns_.size() + j] / static_cast<float>(2 * std::numbers::pi);
}

void FeatureReader::read(std::span<const BinnedColumns::Cell> cells, Scratch& scratch,
                         std::span<std::uint16_t> main, std::span<std::uint8_t> leaves,
                         std::span<std::int16_t> waves) const {
  std::vector<float>& u = scratch.places;
  u.resize(columns_.size());
  scratch.turns.resize(2 * pairs_);
  for (std::size_t j = 0; j < u.size(); ++j) {
    u[j] = std::clamp(static_cast<float>(columns_[j].at(cells[j])), 0.0f, 1.0f);
    main[j] = numeric_[j] ? main_level(u[j], parts_) : static_cast<std::uint16_t>(cells[j].level);
  }
  const FeatureDesign::Split* split = splits_.data();
  for (std::uint8_t& leaf : leaves) {
    unsigned number = 0;
    for (std::size_t s = 0; s < kTreeDepth; ++s, ++split)
      number = 2 * number + (static_cast<double>(u[split->column]) > split->threshold ? 1u : 0u);
    leaf = static_cast<std::uint8_t>(number);
  }
  wave_kernels::waves(turns_.data(), u.data(), u.size(), pairs_, scratch.turns.data(),
                      waves.data());
}

FeatureMap::FeatureMap(FeatureDesign design)
    : design_(std::move(design)),
      reader_(design_),
      main_(main_groups(design_), kMainOffset, reach(design_.sizes.main)),
      leaves_(leaf_groups(design_), kLeafOffset, reach(design_.sizes.tree_part)) {}

double FeatureMap::intercept() {
  return std::trunc(reach(kIntercept * kIntercept) * kFeatureSteps) / kFeatureSteps;
}

void FeatureMap::centre(std::span<std::int16_t> waves, std::span<float> room) const {
  wave_kernels::centre(waves.data(), design_.fourier_means.data(), waves.size(),
                       reach(design_.sizes.fourier_part), design_.sizes.least_length, room.data());
}

void FeatureMap::read(std::span<const BinnedColumns::Cell> cells, FeatureRow& row) const {
  FeatureReader::Scratch scratch;
  row.main.resize(cells.size());
  row.leaves.resize(design_.sizes.trees);
  row.waves.resize(fourier());
  reader_.read(cells, scratch, row.main, row.leaves, row.waves);
  std::vector<float> room(row.waves.size());
  centre(row.waves, room);
  row.main_factor = main_.factor(std::span<const std::uint16_t>(row.main));
  row.leaf_factor = leaves_.factor(std::span<const std::uint8_t>(row.leaves));
}

OneHotBlock::Products FeatureMap::main_products(std::span<const double> parameters) const {
  return main_.products(parameters.subspan(1, main_.size()));
}
OneHotBlock::Products FeatureMap::leaf_products(std::span<const double> parameters) const {
  return leaves_.products(parameters.subspan(1 + main_.size() + fourier(), leaves_.size()));
}

double FeatureMap::margin(std::span<const double> parameters, const OneHotBlock::Products& main,
                          const OneHotBlock::Products& leaves, const FeatureRow& row) const {
  double sum = parameters[0] * intercept() +
               main_.product(main, std::span<const std::uint16_t>(row.main), row.main_factor);
  if (leaves_.groups() > 0)
    sum += leaves_.product(leaves, std::span<const std::uint8_t>(row.leaves), row.leaf_factor);
  const double* theta = parameters.data() + 1 + main_.size();
  double waves = 0;
  for (std::size_t k = 0; k < row.waves.size(); ++k) waves += theta[k] * row.waves[k];
  return sum + waves / wave_kernels::kRowSteps;
}

}  // namespace sotto
