// Detail: the records of boosting: a byte for each column, a target, and the margins so far.
//
// What       sums(): for each tree and leaf Σ residuals (one for each margin) and kWeight·Σ
//            curvature of its records. apply(): adds what trees say to the margins.
//            parts_of_reach(): for the clip of a number.
// Guarantee  A record adds residuals of norm ≤ 1 and a curvature ≤ 1, truncated to steps of 2^−20,
//            to one leaf of each tree: a vector of norm ≤ √(1 + kWeight²) for each tree, as
//            integers. A margin follows from its own record and from released trees, in the order
//            of the trees: its rounding, too, depends on no other record.
// Method     Places stand column by column, since trees look at few columns. The leaves that sums()
//            found are kept: a byte for each record and tree, so that apply() of the same trees
//            need not look again.
// Numerics   64-bit sums of steps of 2^−20, for up to 2^40 records. Where there is one margin, the
//            residual and the curvature of a record are added as one integer in halves of 32 bits,
//            which hold the sums of a block.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sotto/core/rng.hpp"
#include "sotto/models/boosting/detail/grid_tree.hpp"
#include "sotto/models/kernel/detail/margin_loss.hpp"

namespace sotto {

class BoostingRows {
 public:
  static constexpr double kUnit = 0x1p-20, kWeight = 0.3;

  // Where the records, which must outlive the rows, stand on these scales.
  // before: margins to go on from, or none.
  BoostingRows(const BinnedRows& records, const std::vector<ColumnScale>& scales,
               std::size_t margins, std::span<const float> before = {});

  std::size_t size() const { return records_->size(); }

  // Private. What others may go on from, and what they reached.
  std::vector<float> margins() const { return {margins_.begin(), margins_.end()}; }
  void go_on_from(std::span<const float> margins) {
    std::copy(margins.begin(), margins.end(), margins_.begin());
  }

  // Trees one behind the other, `leaves` places for each whatever it has, margins + 1 sums in each.
  std::vector<int128> sums(std::span<const GridTree> trees, std::size_t leaves, MarginLoss loss,
                           double clip, unsigned threads = 0);
  void apply(std::span<const GridTree> trees, unsigned threads = 0);
  // Σ part_of_reach of a number's residuals, in steps of kUnit.
  int128 parts_of_reach(double reach, unsigned threads = 0) const;

 private:
  static constexpr std::size_t kBlock = 1024;  // records

  // f(first, count) for blocks of records, on all threads.
  template <class F>
  void for_blocks(unsigned threads, const F& f) const;
  // The leaf of each record of a block in each tree, tree by tree: looked up unless they are known.
  const std::uint8_t* leaves_of(std::span<const GridTree> trees,
                                const std::vector<std::vector<GridTree::Table>>& tables,
                                std::size_t first, std::size_t count);
  // Tables of the trees, or none where their leaves are known; makes room for leaves.
  std::vector<std::vector<GridTree::Table>> tables_of(std::span<const GridTree> trees);

  const BinnedRows* records_;
  std::size_t columns_, margins_of_;
  std::vector<std::uint8_t> places_;  // column by column
  std::vector<double> margins_;
  std::vector<std::uint8_t> found_;  // leaves: block by block, tree by tree
  std::vector<GridTree> found_for_;  // by these trees
};

}  // namespace sotto
