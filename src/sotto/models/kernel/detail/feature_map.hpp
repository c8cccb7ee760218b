// From the cells of a record to a row of norm one: main effects, random Fourier features, leaves of
// random trees. Everything in it is public.
//
// What       main: the levels of each column, a number in layers of coarse and fine parts of its
//            scale. fourier: cosines and sines of random directions through all columns on their
//            scales. trees: the leaf of each of several trees whose splits were drawn at random.
//            Each part of a row is centred and has the length that was set for it (slopes, waves
//            along one column each, at most that length).
// Guarantee  The row of a record is a function of that record and of released figures.
// Method     Columns are drawn for trees, and weigh in main effects and directions, by p_j =
//            0.7·importance_j^¼ (normalised) + 0.3/d. A direction is normal with deviation 1/0.8
//            on z_j = √3(2u_j − 1)√p_j.
// Numerics   Waves are truncated to steps of 2^−15, so lengths never grow (wave_kernels.hpp).
// Reference  [RR07] for the features; docs/math/kernel.md.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "sotto/models/kernel/detail/binned_columns.hpp"
#include "sotto/models/kernel/detail/noisy_marginals.hpp"
#include "sotto/models/kernel/detail/one_hot_block.hpp"
#include "sotto/models/kernel/detail/pair_scan.hpp"

namespace sotto {

struct FeatureSizes {
  std::size_t fourier = 0;  // pairs of cosine and sine
  std::size_t trees = 0;
  double main = 1, fourier_part = 0, tree_part = 0;  // squared lengths; add up to 1
  // Of a number's scale, finest first: each divides the one before it. Columns without a spike
  // leave the finest out.
  std::vector<std::size_t> main_parts = {128, 32, 8, 2};
  // Waves along one column each, slow enough to be nearly straight: a slope for each column.
  bool slopes = false;
  double least_length = 0;  // of waves: shorter ones are not stretched
  bool pairs = false;  // trees are pairs of columns: the most important ones, cut at set places
};

inline constexpr std::size_t kTreeDepth = 5;
inline constexpr double kIntercept = 0.3;

// What was drawn and released, before means are known.
struct FeatureDesign {
  FeatureSizes sizes = {};
  std::vector<ColumnScale> columns = {};
  std::vector<bool> numeric = {};
  std::vector<double> weights = {};    // of columns in the main effects; at most 1
  std::vector<bool> fine = {};         // one bin has many of the column's records
  std::vector<float> directions = {};  // sizes.fourier × columns
  struct Split {
    std::uint32_t column = 0;
    double threshold = 0;
  };
  std::vector<Split> splits = {};         // sizes.trees × kTreeDepth
  std::vector<float> fourier_means = {};  // 2·sizes.fourier
  std::vector<std::vector<double>> leaf_shares = {};

  // uses: how often each column is looked at; they add up to 1. found: pairs that most trees are
  // drawn from, or none.
  static FeatureDesign draw(const FeatureSizes& sizes, std::vector<ColumnScale> columns,
                            std::vector<bool> numeric, const std::vector<double>& uses,
                            std::span<const PairCredit> found, Rng& rng);
};

nlohmann::ordered_json to_json(const FeatureDesign& design);
FeatureDesign feature_design_from_json(const nlohmann::ordered_json& json);  // throws DataError

// One record as the descent sees it.
struct FeatureRow {
  std::vector<std::uint16_t> main;
  std::vector<std::uint8_t> leaves;
  std::vector<std::int16_t> waves;  // steps of 2^−15
  float main_factor = 0, leaf_factor = 0;
};

// Levels, leaves and waves of a record, before anything is centred: what means are taken of.
class FeatureReader {
 public:
  explicit FeatureReader(const FeatureDesign& design);

  struct Scratch {
    std::vector<float> places, turns;
  };
  // Into spans with one place for each column, tree and wave.
  void read(std::span<const BinnedColumns::Cell> cells, Scratch& scratch,
            std::span<std::uint16_t> main, std::span<std::uint8_t> leaves,
            std::span<std::int16_t> waves) const;

 private:
  std::vector<ColumnScale> columns_;
  std::vector<bool> numeric_;
  std::vector<FeatureDesign::Split> splits_;
  float parts_;
  std::vector<float> turns_;  // by column and wave: directions over 2π
  std::size_t pairs_;
};

class FeatureMap {
 public:
  explicit FeatureMap(FeatureDesign design);

  const FeatureDesign& design() const { return design_; }
  const OneHotBlock& main() const { return main_; }
  const OneHotBlock& leaves() const { return leaves_; }
  std::size_t fourier() const { return 2 * design_.sizes.fourier; }
  // Coordinates: the intercept, main effects, waves, leaves.
  std::size_t dimension() const { return 1 + main_.size() + fourier() + leaves_.size(); }
  static double intercept();  // the value of that coordinate, in steps of 2^−16

  // Less their means, and as long as they are to be; room for as many numbers.
  void centre(std::span<std::int16_t> waves, std::span<float> room) const;
  void read(std::span<const BinnedColumns::Cell> cells, FeatureRow& row) const;
  double margin(std::span<const double> parameters, const OneHotBlock::Products& main,
                const OneHotBlock::Products& leaves, const FeatureRow& row) const;
  OneHotBlock::Products main_products(std::span<const double> parameters) const;
  OneHotBlock::Products leaf_products(std::span<const double> parameters) const;

 private:
  FeatureDesign design_;
  FeatureReader reader_;
  OneHotBlock main_, leaves_;
};

}  // namespace sotto
