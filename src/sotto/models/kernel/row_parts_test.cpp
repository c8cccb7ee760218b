// How the last rows are shared between main effects, waves and leaves.
#include "sotto/models/kernel/detail/row_parts.hpp"

#include <gtest/gtest.h>

#include "sotto/models/kernel/crossed_data_test.hpp"
#include "sotto/models/kernel/detail/gaussian_draw.hpp"

namespace sotto::row_parts_test {

FeatureMap map_of(FeatureSizes sizes) {
  const Encoder encoder(crossed::schema("add_remove", crossed::kTwo, 100));
  const BinnedColumns columns(encoder);
  std::vector<ColumnScale> scales(columns.columns());
  std::vector<bool> numeric;
  for (std::size_t j = 0; j < scales.size(); ++j) {
    const std::size_t levels = columns.levels(j);
    const double width = 1 / static_cast<double>(levels);
    scales[j].width.assign(levels, width);
    scales[j].share.assign(levels, width);
    for (std::size_t l = 0; l < levels; ++l)
      scales[j].start.push_back(width * static_cast<double>(l));
    numeric.push_back(columns.is_numeric(j));
  }
  Rng rng = Rng::insecure_seed(1);
  return FeatureMap(
      FeatureDesign::draw(sizes, scales, numeric, std::vector<double>(4, 0.25), {}, rng));
}

const FeatureSizes kAll = {
    .fourier = 20, .trees = 10, .main = 0.3, .fourier_part = 0.3, .tree_part = 0.4};

double length_of(const FeatureSizes& s) { return s.main + s.fourier_part + s.tree_part; }

TEST(RowParts, APartThatFoundSomethingBecomesLong) {
  const FeatureMap map = map_of(kAll);
  const std::size_t main = map.main().size(), waves = map.fourier();
  Rng rng = Rng::insecure_seed(2);
  std::vector<double> noise(map.dimension());
  for (double& x : noise) x = 0.1 * normal_draw(rng);
  std::vector<double> smooth = noise, stepped = noise;
  for (std::size_t k = 0; k < waves; ++k) smooth[1 + main + k] += 0.5;
  for (std::size_t c = 1 + main + waves; c < stepped.size(); ++c) stepped[c] += 0.5;
  const FeatureSizes by_waves = shared_by_worth(map, {smooth}, 0.1),
                     by_leaves = shared_by_worth(map, {stepped}, 0.1);
  EXPECT_GT(by_waves.fourier_part, 0.7);
  EXPECT_GT(by_leaves.tree_part, 0.75);
  for (const FeatureSizes& s : {by_waves, by_leaves}) {
    EXPECT_LE(length_of(s), 1 + 1e-12);  // rows stay in the unit ball
    EXPECT_GT(length_of(s), 1 - 1e-12);
    EXPECT_GT(std::min({s.main, s.fourier_part, s.tree_part}), 0.08);
    EXPECT_EQ(s.fourier, kAll.fourier);
    EXPECT_EQ(s.trees, kAll.trees);
  }
}

TEST(RowParts, StayAsTheyAreWhereNothingWasFound) {
  const FeatureMap map = map_of(kAll);
  for (const double parameter : {0.0, 0.1}) {
    const FeatureSizes same =
        shared_by_worth(map, {std::vector<double>(map.dimension(), parameter)}, 0.1);
    EXPECT_EQ(same.main, kAll.main);
    EXPECT_EQ(same.tree_part, kAll.tree_part);
  }
  FeatureSizes no_trees = kAll;
  no_trees.trees = 0, no_trees.main = 0.4, no_trees.fourier_part = 0.6, no_trees.tree_part = 0;
  const FeatureMap waves = map_of(no_trees);
  EXPECT_EQ(shared_by_worth(waves, {std::vector<double>(waves.dimension(), 1.0)}, 0.1).fourier_part,
            0.6);
}

}  // namespace sotto::row_parts_test
